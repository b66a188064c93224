import * as z from "zod";
import { operation } from "../operation.ts";
import { Image, ImageForm, ImageUpload } from "../resources/image.ts";

export const images = {
  upload: operation({
    method: "POST",
    path: "/v1/images",
    summary: "Upload an image",
    scope: "images:write",
    body: { "multipart/form-data": ImageForm },
    status: 201,
    reply: ImageUpload,
    refuses: {},
  }),
  get: operation({
    method: "GET",
    path: "/v1/images/{image_id}",
    summary: "Get an image with a fresh signed URL",
    scope: "images:read",
    params: z.object({ image_id: z.string() }),
    status: 200,
    reply: Image,
    refuses: { 404: ["image_not_found"] },
  }),
};
