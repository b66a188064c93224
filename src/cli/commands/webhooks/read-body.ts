import { createReadStream } from "node:fs";
import { resolve } from "node:path";
import type { App } from "../../app/app.ts";
import { UsageError } from "../../context/errors.ts";

/** The longest body that is read, in bytes: a delivery names one resource and its status (Events, Delivery). */
const mostBytes = 10_000_000;

/** The bytes of a body from a file, or from standard input for `-`. Throws UsageError if it cannot be read. */
export async function readBody(app: App, file: string): Promise<Uint8Array> {
  const { stdin, cwd } = app.context;
  if (file === "-" && stdin.isTTY) {
    throw new UsageError("no body to check", {
      param: "--file",
      hint: "Add --file FILE, or send the body to standard input.",
    });
  }
  return collect(file === "-" ? stdin : createReadStream(resolve(cwd, file)), file);
}

async function collect(stream: NodeJS.ReadableStream, file: string): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream) {
    chunks.push(Buffer.from(chunk as Buffer));
    length += chunk.length;
    if (length > mostBytes) {
      throw new UsageError(`${file === "-" ? "standard input" : file} has more than 10 MB`, {
        param: "--file",
        hint: "Choose the file with the body of one delivery.",
      });
    }
  }
  return Buffer.concat(chunks);
}
