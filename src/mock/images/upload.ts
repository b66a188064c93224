import { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import { Busboy } from "@fastify/busboy";
import { limits } from "../../contract/limits.ts";
import { invalid, Refusal } from "../rules/refusal.ts";

/** No more parts of a form are looked at; one is enough. */
const mostParts = 10;

/** The name of a part that may have none. */
type PartName = string | undefined;

function unknownPart(field: PartName): Refusal {
  if (field === undefined) return invalid("a part without a name is not a field of this form");
  const name = field.slice(0, 200);
  return invalid(`${name} is not a field of this form`, name);
}

/** A part under another name is most likely the file that is missing. */
function noFile(strangers: readonly PartName[]): Refusal {
  if (strangers.length === 0) return invalid("the form has no part named file", "file");
  const other = strangers[0] === undefined ? "one without a name" : `one named ${strangers[0].slice(0, 200)}`;
  return invalid(`the form has no part named file, but ${other}`, "file");
}

/** The file of an upload's form (Images): exactly one part `file` and nothing else, or 400; over 10 MB, 413. */
export async function readUpload(contentType: string, body: Buffer): Promise<{ file: Uint8Array }> {
  const files: Buffer[][] = [];
  const strangers: PartName[] = [];
  let form: InstanceType<typeof Busboy>;
  try {
    form = new Busboy({
      headers: { "content-type": contentType },
      // Some clients leave out the file name; it is the part's name that counts.
      isPartAFile: () => true,
      limits: { parts: mostParts },
    });
  } catch {
    throw invalid("the content type must name the boundary of the form", "file");
  }
  let isBroken = false;
  form.on("file", (field: PartName, stream) => {
    const chunks: Buffer[] = [];
    if (field === "file") files.push(chunks);
    else strangers.push(field);
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
  // Where not all parts were looked at, nobody knows whether there is a file: what is wrong for certain is the first part.
  if (chunks === undefined && strangers.length >= mostParts) throw unknownPart(strangers[0]);
  if (chunks === undefined) throw noFile(strangers);
  if (files.length > 1) throw invalid("the form has more than one part named file", "file");
  if (strangers.length > 0) throw unknownPart(strangers[0]);
  const file = Buffer.concat(chunks);
  if (file.length > limits.imageBytes) {
    throw new Refusal("body_too_large", `an image has at most ${limits.imageBytes} bytes`, { param: "file" });
  }
  return { file };
}
