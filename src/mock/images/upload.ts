import { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import { Busboy } from "@fastify/busboy";
import { imageSize } from "image-size";
import { limits } from "../../contract/limits.ts";
import { invalid, Rejection } from "../rules/rejection.ts";

/** Maximum number of form parts to read; one is enough for a valid form. */
const mostParts = 10;

type PartName = string | undefined;

function unknownPart(field: PartName): Rejection {
  if (field === undefined) return invalid("the form has a part without a name");
  const name = field.slice(0, 200);
  return invalid(`${name} is not a field of this form`, name);
}

/** The error for a form without a file; it names the first other part, probably meant as the file. */
function noFile(strangers: readonly PartName[]): Rejection {
  if (strangers.length === 0) return invalid("the form has no part named file", "file");
  const stranger =
    strangers[0] === undefined ? "one without a name" : `one named ${strangers[0].slice(0, 200)}`;
  return invalid(`the form has no part named file; it has ${stranger}`, "file");
}

/** The file of an upload form (Images): exactly one part, named `file`, of at most 10 MB. */
export async function readUpload(contentType: string, body: Buffer): Promise<{ file: Uint8Array }> {
  const files: Buffer[][] = [];
  const strangers: PartName[] = [];
  let form: InstanceType<typeof Busboy>;
  try {
    form = new Busboy({
      headers: { "content-type": contentType },
      // Some clients send no filename; only the name of the part counts.
      isPartAFile: () => true,
      limits: { parts: mostParts },
    });
  } catch {
    throw invalid("the content type must include the boundary of the form", "file");
  }
  let isBroken = false;
  form.on("file", (field: PartName, stream) => {
    const chunks: Buffer[] = [];
    if (field === "file") files.push(chunks);
    else strangers.push(field);
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    // A truncated part also ends the form with an error, below.
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
  if (isBroken) throw invalid("the form is truncated or malformed", "file");
  const [chunks] = files;
  // With unread parts, a missing file is not certain. The first part is certainly wrong.
  if (chunks === undefined && strangers.length >= mostParts) throw unknownPart(strangers[0]);
  if (chunks === undefined) throw noFile(strangers);
  if (files.length > 1) throw invalid("the form has more than one part named file", "file");
  if (strangers.length > 0) throw unknownPart(strangers[0]);
  const file = Buffer.concat(chunks);
  if (file.length > limits.imageBytes) {
    throw new Rejection("body_too_large", `an image can have at most ${limits.imageBytes} bytes`, {
      param: "file",
    });
  }
  return { file };
}

/** Width and height of a JPEG, PNG or WebP in pixels; null if the header cannot be read. */
export function imageDimensions(bytes: Uint8Array): { width: number; height: number } | null {
  try {
    const { width, height } = imageSize(bytes);
    return width > 0 && height > 0 ? { width, height } : null;
  } catch {
    return null;
  }
}
