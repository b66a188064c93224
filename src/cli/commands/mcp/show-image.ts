import { detectImageType } from "../../../contract/image-file.ts";
import { CatError } from "../../../errors.ts";
import { scaledTo } from "../../../flows/generate/gallery/fetch-images.ts";
import { UsageError } from "../../context/errors.ts";
import type { Session } from "./session.ts";

/** Larger than any photo or output. */
const mostBytes = 50_000_000;
/** Enough to judge a garment, and a tenth of the tokens of an original. */
const box = { width: 1024, height: 1024 } as const;
/** An original that is sent where images cannot be scaled. */
const largestOriginal = 1_000_000;

/** A photo or a generated image, scaled down, in base64. */
export async function showImage(
  { image_id, task_id }: { image_id?: string | undefined; task_id?: string | undefined },
  { app, options }: Session,
): Promise<{ data: string; mimeType: string }> {
  if ((image_id === undefined) === (task_id === undefined))
    throw new UsageError("use either image_id or task_id", { param: "image_id", hint: "Add one of them." });
  const client = await app.client();
  const url =
    task_id === undefined
      ? (await client.images.get({ image_id: image_id! }, options)).url
      : (await client.tasks.get({ task_id }, options)).output_image?.url;
  if (url === undefined)
    throw new CatError(`the task ${task_id} has no image`, {
      type: "not_found",
      code: "image_not_found",
      hint: "Wait until it has succeeded: tasks_find.",
    });
  const chunks: Uint8Array[] = [];
  for await (const chunk of client.download(url, { ...options, maxBytes: mostBytes, attempts: 3 }))
    chunks.push(chunk);
  return scaled(Buffer.concat(chunks));
}

async function scaled(bytes: Buffer): Promise<{ data: string; mimeType: string }> {
  const type = detectImageType(bytes);
  if (type === null)
    throw new CatError("the image is not a JPEG, PNG or WebP image", {
      type: "bad_response",
      code: "not_an_image",
    });
  try {
    const { default: sharp } = await import("sharp");
    const small = await scaledTo(box, sharp, bytes).jpeg({ quality: 80 }).toBuffer();
    return { data: small.toString("base64"), mimeType: "image/jpeg" };
  } catch (cause) {
    if (bytes.length <= largestOriginal) return { data: bytes.toString("base64"), mimeType: type };
    throw new CatError("the image cannot be scaled down", {
      type: "output",
      code: "image_not_scaled",
      hint: "Save it instead: cat images get ID --save FILE.",
      cause,
    });
  }
}
