import type { App } from "../../app/app.ts";
import { UsageError } from "../../context/errors.ts";
import { readBytes } from "../../files/read-bytes.ts";

/** The bytes of a body from a file, or from standard input for `-`. Throws UsageError if it cannot be read. */
export async function readBody(app: App, file: string): Promise<Uint8Array> {
  if (file === "-" && app.context.stdin.isTTY) {
    throw new UsageError("no body to check", {
      param: "--file",
      hint: "Add --file FILE, or send the body to standard input.",
    });
  }
  return readBytes(file, app.context, {
    // A delivery names one resource and its status (Events, Delivery).
    bytes: 10_000_000,
    shown: "10 MB",
    param: "--file",
    hint: "Choose the file with the body of one delivery.",
  });
}
