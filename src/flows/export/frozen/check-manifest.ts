import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { createInterface } from "node:readline";
import { BadAnswerError } from "../../../http/errors.ts";
import { grouped } from "../../words.ts";

/**
 * Checks a downloaded manifest (POST /v1/exports, format manifest): each line is an object with a product ID, the last one
 * ends, and with `ids` exactly these products are in it. Throws a BadAnswerError; `name` is the manifest in its message.
 */
export async function checkManifest(
  path: string,
  name: string,
  ids: readonly string[] | null,
  onLine: (line: string) => void = () => {},
): Promise<void> {
  const broken = (why: string) =>
    new BadAnswerError(`${name} is not the manifest of the export: ${why}`, { code: "wrong_content" });
  if (!(await endsWithLine(path))) throw broken("it ends within a line");
  const asked = ids === null ? null : new Set(ids);
  const left = new Set(ids);
  let line = 0;
  for await (const text of linesOf(path)) {
    line++;
    onLine(text);
    const id = productIdOf(text);
    if (id === null) throw broken(`line ${line} has no product`);
    if (asked !== null && !asked.has(id)) throw broken(`line ${line} has a product that was not asked for`);
    left.delete(id);
  }
  if (left.size > 0)
    throw broken(`it has ${grouped(ids!.length - left.size)} of ${grouped(ids!.length)} products`);
}

/** The lines of a manifest, without their ends. */
export const linesOf = (path: string): AsyncIterable<string> =>
  createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY });

/** The product of a line; null if it has none. */
export function productIdOf(line: string): string | null {
  try {
    const { product } = JSON.parse(line) as { product?: { id?: unknown } };
    return typeof product?.id === "string" ? product.id : null;
  } catch {
    return null;
  }
}

/** Whether the file is empty, or its last byte ends a line: a body that was cut off may still be valid JSON. */
async function endsWithLine(path: string): Promise<boolean> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    if (size === 0) return true;
    const { buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1);
    return buffer[0] === 10;
  } finally {
    await file.close();
  }
}
