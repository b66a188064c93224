// ZIPs have names of files, and nothing else of their images: a manifest of the same products tells which are rejected.

import { createReadStream } from "node:fs";
import { rm } from "node:fs/promises";
import { extname, join } from "node:path";
import { createInterface } from "node:readline";
import type { ExportRow } from "../../../contract/resources/exports.ts";
import { BadAnswerError } from "../../../http/errors.ts";
import type { Run } from "../../run/run.ts";
import type { ReviewedAssets } from "../approved.ts";
import { openZip } from "../archive/zip.ts";
import { downloadArtifact } from "./download-artifact.ts";
import { artifactPath } from "./fetch-artifacts.ts";
import type { FrozenJob } from "./frozen-summary.ts";

/** The names of rejected images, by the path of their ZIP. */
export type SkippedEntries = ReadonlyMap<string, ReadonlySet<string>>;

/**
 * Finds the rejected images in the ZIPs of jobs. For each ZIP the service writes a manifest of its products. Throws a
 * BadAnswerError (exit 7) where the names of both do not match: a wrong image might be left out, or a rejected one kept.
 */
export async function rejectedEntries(
  jobs: readonly Pick<FrozenJob, "id" | "ids">[],
  run: Pick<Run, "client" | "signal" | "newKey">,
  { folder, roles, reviewed }: { folder: string; roles: readonly string[] | null; reviewed: ReviewedAssets },
): Promise<SkippedEntries> {
  const found = new Map<string, ReadonlySet<string>>();
  for (const { id, ids } of jobs) {
    const zip = artifactPath(folder, id);
    const manifest = join(folder, `${id}.names`);
    await saveManifest(run, { path: manifest, zip: id, ids, roles });
    const names = await namesOf(manifest, reviewed);
    if (!names.some(({ isRejected }) => isRejected)) continue;
    const skipped = matchNames(names, await entriesOf(zip));
    if (skipped === null) {
      // Another manifest may match.
      await rm(manifest, { force: true });
      throw new BadAnswerError(
        `cannot determine which files of export ${id} are rejected: its names are not those of the manifest`,
        {
          code: "ambiguous_names",
          hint: "Use cat export sync DIR --approved, which knows each image by its ID.",
        },
      );
    }
    found.set(zip, skipped);
  }
  return found;
}

interface ManifestOf {
  readonly path: string;
  /** The ID of the job of the ZIP, for messages. */
  readonly zip: string;
  readonly ids: readonly string[];
  readonly roles: readonly string[] | null;
}

async function saveManifest(
  { client, signal, newKey }: Pick<Run, "client" | "signal" | "newKey">,
  { path, zip, ids, roles }: ManifestOf,
): Promise<void> {
  const role = roles === null ? {} : { role: roles };
  const json = JSON.stringify({ format: "manifest", product_ids: ids, ...role });
  const job = await client.exports.create({ json }, { signal, idempotencyKey: newKey() });
  const name = `the names of export ${zip}`;
  await downloadArtifact(client, { job, path, name, maxBytes: 0, ids, signal });
}

interface AssetName {
  readonly name: string;
  readonly isRejected: boolean;
}

/** The names of all images of a manifest. */
async function namesOf(path: string, reviewed: ReviewedAssets): Promise<AssetName[]> {
  const names: AssetName[] = [];
  const lines = createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY });
  for await (const line of lines) {
    const { assets } = JSON.parse(line) as ExportRow;
    // The client checks neither the list nor the name.
    for (const { suggested_filename: name, task_id } of Array.isArray(assets) ? assets : [])
      names.push({
        name: typeof name === "string" ? name : "",
        isRejected: reviewed.of(task_id) === "reject",
      });
  }
  return names;
}

async function entriesOf(path: string): Promise<string[]> {
  const zip = await openZip(path, path);
  try {
    return zip.entries.filter(({ kind }) => kind === "file").map(({ name }) => name);
  } finally {
    zip.close();
  }
}

/**
 * The files of a ZIP that are rejected images; null if that is not certain. The names must be exactly those of the manifest, each
 * once, with or without their extensions: a ZIP may have other formats (Exports, Frozen).
 */
export function matchNames(assets: readonly AssetName[], entries: readonly string[]): Set<string> | null {
  for (const keyOf of [
    (name: string) => name,
    (name: string) => name.slice(0, -extname(name).length || undefined),
  ]) {
    const byKey = new Map(assets.map((asset) => [keyOf(asset.name), asset]));
    const keys = new Set(entries.map(keyOf));
    const isExact = byKey.size === assets.length && keys.size === entries.length;
    if (!isExact || keys.size !== byKey.size || [...keys].some((key) => !byKey.has(key))) continue;
    return new Set(entries.filter((entry) => byKey.get(keyOf(entry))!.isRejected));
  }
  return null;
}
