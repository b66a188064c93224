import { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import { Busboy } from "@fastify/busboy";
import { limits } from "../../contract/limits.ts";
import { invalid, Refusal } from "../refusal.ts";

/** The file of an upload's form (Images): exactly one part `file` and nothing else, or 400; over 10 MB, 413. */
export async function readUpload(contentType: string, body: Buffer): Promise<{ file: Uint8Array }> {
  const files: Buffer[][] = [];
  const strangers: string[] = [];
  let form: InstanceType<typeof Busboy>;
  try {
    form = new Busboy({
      headers: { "content-type": contentType },
      // Some clients leave out the file name; it is the part's name that counts.
      isPartAFile: () => true,
      limits: { parts: 10 },
    });
  } catch {
    throw invalid("the content type must name the boundary of the form", "file");
  }
  let isBroken = false;
  form.on("file", (field, stream) => {
    const chunks: Buffer[] = [];
    if (field === "file") files.push(chunks);
    else strangers.push(String(field));
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    // A part that ends in the middle ends the form the same way, below.
    stream.on("error", () => {
      isBroken = true;
    });
  });
  try {
    Readable.from([body]).pipe(form);
    await finished(form);
  } catch {
    isBroken = true;
  }
  if (isBroken) throw invalid("the form is cut off or malformed", "file");
  const [chunks] = files;
  if (chunks === undefined) throw invalid("the form has no part named file", "file");
  if (files.length > 1) throw invalid("the form has more than one part named file", "file");
  if (strangers.length > 0) {
    const name = strangers[0]!.slice(0, 200);
    throw invalid(`${name} is not a field of this form`, name);
  }
  const file = Buffer.concat(chunks);
  if (file.length > limits.imageBytes) {
    throw new Refusal("body_too_large", `an image has at most ${limits.imageBytes} bytes`, { param: "file" });
  }
  return { file };
}
