import { createReadStream } from "node:fs";
import { open, rename, rm, stat } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { createInterface } from "node:readline";
import type { Client } from "../../../client/client.ts";
import { BadResponseError } from "../../../http/errors.ts";
import { parseJson } from "../../../json.ts";
import { newFile, temporaryFile } from "../../../open-file.ts";
import { OutputError } from "../../files/disk.ts";
import { grouped } from "../../words.ts";

/**
 * Checks a manifest (POST /v1/exports): each line is an object with a product ID, the last one ends, and with
 * `ids` exactly these are in it. Throws a BadResponseError; `name` is the manifest in its message.
 */
export async function checkManifest(
  path: string,
  name: string,
  ids: readonly string[] | null,
): Promise<void> {
  const broken = (why: string) =>
    new BadResponseError(`${name} is not the manifest of the export: ${why}`, {
      code: "wrong_content",
      hint: "Run the command again to download it again.",
    });
  if (!(await endsWithLine(path))) throw broken("it ends within a line");
  const asked = ids === null ? null : new Set(ids);
  const missing = new Set(ids);
  let line = 0;
  for await (const text of readLines(path)) {
    line++;
    const id = parseProductId(text);
    if (id === null) throw broken(`line ${line} has no product`);
    if (asked !== null && !asked.has(id)) throw broken(`line ${line} has a product that was not asked for`);
    missing.delete(id);
  }
  if (missing.size > 0)
    throw broken(`it has ${grouped(ids!.length - missing.size)} of ${grouped(ids!.length)} products`);
}

export const readLines = (path: string): AsyncIterable<string> =>
  createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY });

function parseProductId(line: string): string | null {
  try {
    const { product } = parseJson(line) as { product?: { id?: unknown } };
    return typeof product?.id === "string" ? product.id : null;
  } catch {
    return null;
  }
}

/** Whether the last byte ends a line: a body that was cut off may still be valid JSON. */
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

/** A manifest of a job, and the products that it was asked for, in order. */
export interface ManifestPart {
  readonly path: string;
  readonly ids: readonly string[];
}

/** Joins manifests in order without duplicates, one in memory at a time. Throws OutputError about `name`. */
export async function mergeManifests(
  parts: readonly ManifestPart[],
  { path, name, onProgress }: { path: string; name: string; onProgress: (products: number) => void },
): Promise<void> {
  try {
    await rm(path, { force: true });
    const file = await newFile(path, 0o666);
    try {
      let done = 0;
      for (const part of parts) {
        const lines = new Map<string, string>();
        for await (const line of readLines(part.path)) {
          const id = parseProductId(line)!;
          if (!lines.has(id)) lines.set(id, line);
        }
        await file.write(part.ids.map((id) => `${lines.get(id)}\n`).join(""));
        done += part.ids.length;
        onProgress(done);
      }
      await file.sync();
    } finally {
      await file.close();
    }
  } catch (error) {
    throw new OutputError(name, error as NodeJS.ErrnoException);
  }
}

/** Masks the API key in a manifest, rewritten only if it has it; resolves to its size. Throws OutputError. */
export async function maskManifest(path: string, name: string, { withoutKey }: Client): Promise<number> {
  try {
    if (await hasChange(path, withoutKey)) {
      const file = await temporaryFile(dirname(path), `.${basename(path)}-`, 0o666);
      try {
        for await (const line of readLines(path)) await file.write(`${withoutKey(line)}\n`);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(file.path, path);
    }
    return (await stat(path)).size;
  } catch (error) {
    throw new OutputError(name, error as NodeJS.ErrnoException);
  }
}

async function hasChange(path: string, withoutKey: Client["withoutKey"]): Promise<boolean> {
  for await (const line of readLines(path)) if (withoutKey(line) !== line) return true;
  return false;
}
