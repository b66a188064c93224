import { UsageError } from "../../context/errors.ts";

/** Larger input is another file by mistake. */
const largest = 64 * 1024;

/** The text on stdin, for `--with-key`. Throws UsageError on a terminal, which would show the key. */
export async function readKey(stdin: NodeJS.ReadableStream & { isTTY?: boolean }): Promise<string> {
  if (stdin.isTTY === true) {
    throw new UsageError("--with-key reads a file or a pipe, not the terminal", {
      code: "key_on_terminal",
      param: "--with-key",
      hint: "Run: cat login --with-key < keyfile. Without --with-key the key is asked for, and not shown.",
    });
  }
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stdin) {
    chunks.push(Buffer.from(chunk));
    size += chunk.length;
    if (size > largest) break;
  }
  return Buffer.concat(chunks).toString("utf8");
}
