// Compiled against the types that openapi-typescript generates from openapi.json, and run against the mock.
import createClient from "openapi-fetch";
import type { paths } from "./api.ts";

/** Sends each request as a developer would write it; returns the statuses and a few fields. */
export async function naturalCalls(baseUrl: string, apiKey: string): Promise<Record<string, unknown>> {
  const client = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${apiKey}` } });
  const made: Record<string, unknown> = {};

  const listed = await client.GET("/v1/products", { params: { query: { limit: 2 } } });
  const product = listed.data?.data[0];
  if (product === undefined) throw new Error("no products");
  made.products = [listed.response.status, listed.data?.has_more, typeof product.reference];

  const one = await client.GET("/v1/products/{product_id}", {
    params: { path: { product_id: product.id } },
  });
  made.product = [one.response.status, one.data?.name === product.name];

  const changed = await client.PATCH("/v1/products/{product_id}", {
    params: { path: { product_id: product.id } },
    body: { description: null, sex: "kid" },
    headers: { "Content-Type": "application/merge-patch+json" },
  });
  made.patch = [changed.response.status, changed.data?.sex];

  const rows = [
    { reference: "A-1", name: "A coat", images: [{ url: "https://cdn.example.com/a.jpg" }] },
    {
      reference: "A-2",
      name: "A dress",
      sex: "female" as const,
      images: [{ url: "https://cdn.example.com/b.jpg", orientation: "front" as const }],
    },
  ];
  const submitted = await client.POST("/v1/imports", { body: { rows } });
  made.import = [submitted.response.status, submitted.data?.mode, submitted.data?.on_image_error];

  const lines = await client.POST("/v1/imports", {
    params: { query: { mode: "create" } },
    body: rows.map((row) => JSON.stringify(row)).join("\n"),
    bodySerializer: (body) => String(body),
    headers: { "Content-Type": "application/x-ndjson", "Idempotency-Key": "once" },
  });
  made.ndjson = [lines.response.status, lines.data?.mode];

  const results = await client.GET("/v1/imports/{import_id}/rows", {
    params: { path: { import_id: submitted.data?.id ?? "" }, query: { status: "pending" } },
  });
  made.rows = [results.response.status, results.data?.data.map(({ line }) => line)];

  const exported = await client.POST("/v1/exports", { body: { product_ids: [product.id] } });
  made.export = [exported.response.status, exported.data?.format, exported.data?.status];

  const beautified = await client.POST("/v1/tasks/beautifier", {
    body: {
      subtype: "clothing",
      inputs: { product_id: product.id, background: "#f4f1ea", angle_shot: "front" },
    },
  });
  made.beautify = [beautified.response.status, beautified.data?.type, beautified.data?.subtype];

  const models = await client.GET("/v1/models", { params: { query: { is_public: true } } });
  made.models = [models.response.status, models.data?.data[0]?.is_public];

  const worn = await client.POST("/v1/tasks/tryon", {
    body: {
      inputs: [
        {
          product_id: product.id,
          model_id: models.data?.data[0]?.id ?? "",
          background: "studio",
          angle_shot: "custom-sitting",
        },
      ],
    },
  });
  made.tryon = [worn.response.status, worn.data?.tasks.map(({ status }) => status)];

  const webhook = await client.POST("/v1/webhooks", {
    body: { url: "https://hooks.example.com/in", events: ["import.completed"] },
  });
  made.webhook = [webhook.response.status, webhook.data?.signing_secret.startsWith("whsec_")];

  const missing = await client.GET("/v1/tasks/{task_id}", { params: { path: { task_id: "none" } } });
  made.missing = [missing.response.status, missing.error?.error.code];
  return made;
}
