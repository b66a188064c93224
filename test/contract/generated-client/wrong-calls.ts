// Each call is a compile error on the line of its comment.
import createClient from "openapi-fetch";
import type { paths } from "./api.ts";

const client = createClient<paths>();
const row = { reference: "A-1", name: "A coat", images: [{ url: "https://cdn.example.com/a.jpg" }] };
const task = { product_id: "p", model_id: "m", background: "studio", angle_shot: "full-front" };

client.GET("/v1/produkte"); // unknown path
client.DELETE("/v1/models"); // unknown method
client.GET("/v1/products/{product_id}"); // missing path parameter
client.GET("/v1/products", { params: { query: { limit: "many" } } }); // text for a number
client.POST("/v1/imports", { body: { mode: "replace", rows: [row] } }); // unknown mode
client.POST("/v1/imports", { body: { rows: [{ ...row, name: 1 }] } }); // number for a name
client.POST("/v1/tasks/tryon", { body: { inputs: [{ ...task, background: 7 }] } }); // number for a background
client.POST("/v1/tasks/tryon", { body: { inputs: [{ ...task, angle_shot: null }] } }); // null for an angle
client.POST("/v1/tasks/tryon", { body: { inputs: [{ ...task, look_at_camera: "no" }] } }); // text for a boolean
client.POST("/v1/exports", { body: { format: "pdf" } }); // unknown format
client.POST("/v1/webhooks", { body: { url: "https://hooks.example.com/in" } }); // missing events
