import * as z from "zod";
import { operation } from "../operation.ts";
import { closedSet } from "../response-values.ts";
import { imageTypes } from "../value-sets.ts";
import { Timestamp, Ulid, Url } from "./fields.ts";

/** An uploaded image; `url` is the signed URL of the original bytes, valid for one hour. */
export const Image = z.looseObject({
  id: Ulid,
  mime_type: closedSet(imageTypes),
  url: Url,
  url_expires_at: Timestamp,
  created_at: Timestamp,
});
export type Image = z.infer<typeof Image>;

export const ImageUpload = z.looseObject({
  id: Ulid,
  mime_type: closedSet(imageTypes),
  created_at: Timestamp,
});
export type ImageUpload = z.infer<typeof ImageUpload>;

/** The form of an upload: one file, at most 10 MB; the type is determined from the bytes. */
export const ImageForm = z.strictObject({
  file: z.instanceof(Uint8Array).meta({ type: "string", format: "binary" }),
});

export const images = {
  upload: operation({
    method: "POST",
    path: "/v1/images",
    summary: "Upload an image",
    body: { "multipart/form-data": ImageForm },
    status: 201,
    reply: ImageUpload,
  }),
  get: operation({
    method: "GET",
    path: "/v1/images/{image_id}",
    summary: "Get an image with a fresh signed URL",
    params: z.object({ image_id: z.string() }),
    reply: Image,
    rejects: { 404: ["image_not_found"] },
  }),
};
