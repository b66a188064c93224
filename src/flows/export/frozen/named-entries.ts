// ZIPs have only names of files: a manifest of the same products tells the rest of their images.

import { rm } from "node:fs/promises";
import { extname, join } from "node:path";
import type { ExportRow } from "../../../contract/resources/exports.ts";
import { BadResponseError } from "../../../http/errors.ts";
import { parseJson } from "../../../json.ts";
import { sourceOfAsset } from "../../files/ai-label.ts";
import type { DigitalSource } from "../../files/xmp.ts";
import type { Run } from "../../run/run.ts";
import { openZip } from "../archive/zip.ts";
import type { ReviewGate } from "../reviews.ts";
import { artifactPath, downloadArtifact } from "./fetch-artifacts.ts";
import type { FrozenJob } from "./frozen-summary.ts";
import { readLines } from "./manifest.ts";

export interface NamedEntries {
  /** The names of images that are left out, by the path of their ZIP. */
  readonly skipped: ReadonlyMap<string, ReadonlySet<string>>;
  /** How generated images were made, by the path of their ZIP and their name. */
  readonly sources: ReadonlyMap<string, ReadonlyMap<string, DigitalSource>>;
  /** The number of generated images whose names are not certain. */
  readonly unnamed: number;
}

/** The images to find: those left out by their decisions, and with `label` the generated ones. */
interface Wanted {
  readonly folder: string;
  readonly roles: readonly string[] | null;
  readonly gate: ReviewGate;
  readonly label: boolean;
}

/**
 * Finds the images to leave out and the generated ones in ZIPs by their manifests. Throws a BadResponseError
 * (exit 7) if some are left out and names do not match: a wrong image might be left out, or a rejected one
 * kept.
 */
export async function namedEntries(
  jobs: readonly FrozenJob[],
  run: Run,
  { folder, roles, gate, label }: Wanted,
): Promise<NamedEntries> {
  const skipped = new Map<string, ReadonlySet<string>>();
  const sources = new Map<string, ReadonlyMap<string, DigitalSource>>();
  let unnamed = 0;
  for (const { id, ids } of jobs) {
    const zip = artifactPath(folder, id);
    const manifest = join(folder, `${id}.names`);
    await saveManifest(run, { path: manifest, zip: id, ids, roles });
    const names = await readNames(manifest, { gate, label });
    const isLeftOut = names.some((name) => name.isLeftOut);
    const generated = names.filter(({ source }) => source !== null).length;
    if (!isLeftOut && generated === 0) continue;
    const matches = matchNames(names, await readEntries(zip));
    if (matches === null && isLeftOut) {
      // Another manifest may match.
      await rm(manifest, { force: true });
      throw new BadResponseError(
        `cannot determine which files of export ${id} are ${gate.filter === "approved" ? "approved" : "rejected"}: its names are not those of the manifest`,
        {
          code: "ambiguous_names",
          hint: `Use cat export sync DIR --${gate.filter}, which knows each image by its ID.`,
        },
      );
    }
    if (matches === null) {
      unnamed += generated;
      continue;
    }
    const all = [...matches];
    skipped.set(zip, new Set(all.flatMap(([entry, { isLeftOut }]) => (isLeftOut ? [entry] : []))));
    sources.set(
      zip,
      new Map(all.flatMap(([entry, { source }]) => (source === null ? [] : [[entry, source]]))),
    );
  }
  return { skipped, sources, unnamed };
}

interface ManifestOf {
  readonly path: string;
  /** The ID of the job of the ZIP, for messages. */
  readonly zip: string;
  readonly ids: readonly string[];
  readonly roles: readonly string[] | null;
}

async function saveManifest(
  { client, signal, newKey }: Run,
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
  readonly isLeftOut: boolean;
  /** How it was made; null for one that gets no label. */
  readonly source: DigitalSource | null;
}

async function readNames(
  path: string,
  { gate, label }: Pick<Wanted, "gate" | "label">,
): Promise<AssetName[]> {
  const names: AssetName[] = [];
  for await (const line of readLines(path)) {
    const { assets } = parseJson(line) as ExportRow;
    // The client checks neither the list nor its values.
    const listed = Array.isArray(assets) ? assets : [];
    const kept = new Set(gate.select(listed, (asset) => asset).kept);
    for (const asset of listed) {
      const { suggested_filename: name, ai_generated, role } = asset;
      names.push({
        name: typeof name === "string" ? name : "",
        isLeftOut: !kept.has(asset),
        source: label ? sourceOfAsset({ ai_generated, role }) : null,
      });
    }
  }
  return names;
}

export async function readEntries(path: string): Promise<string[]> {
  const zip = await openZip(path, path);
  try {
    return zip.entries.filter(({ kind }) => kind === "file").map(({ name }) => name);
  } finally {
    zip.close();
  }
}

/**
 * The images of a ZIP by file name; null unless these are exactly the names of the manifest, each once, but
 * for extensions: a ZIP may have other formats (Exports, Frozen).
 */
export function matchNames<Asset extends { readonly name: string }>(
  assets: readonly Asset[],
  entries: readonly string[],
): Map<string, Asset> | null {
  for (const toKey of [
    (name: string) => name,
    (name: string) => name.slice(0, -extname(name).length || undefined),
  ]) {
    const byKey = new Map(assets.map((asset) => [toKey(asset.name), asset]));
    const keys = new Set(entries.map(toKey));
    const isExact = byKey.size === assets.length && keys.size === entries.length;
    if (!isExact || keys.size !== byKey.size || [...keys].some((key) => !byKey.has(key))) continue;
    return new Map(entries.map((entry) => [entry, byKey.get(toKey(entry))!]));
  }
  return null;
}
