import { withoutEnd } from "../../../text.ts";
// The files of a mirror next to its images, and its state: what it mirrors, and where the next run starts.

import { createHash } from "node:crypto";
import { CatError } from "../../../errors.ts";
import { parseJson } from "../../../json.ts";
import { isBucketAddress, nameIn } from "../../bucket/address.ts";
import type { ReviewFilter } from "../reviews.ts";
import type { MirrorSelection, MirrorStore } from "./mirror-store.ts";

/** One of several parts of a catalogue, each of which another machine mirrors. */
export interface Shard {
  /** From 1. */
  readonly number: number;
  readonly of: number;
}

/** The shard that a product belongs to, from 1: the same on every machine and in every version. */
export function toShard(productId: string, of: number): number {
  return (createHash("sha256").update(productId).digest().readUInt32BE(0) % of) + 1;
}

/** `2-of-3`, in names of files. */
export const shardName = ({ number, of }: Shard): string => `${number}-of-${of}`;

/** The hidden folder of every mirror: its state, and what is unfinished. */
export const hiddenFolder = ".catalogue-sync";

/** The same in a bucket. */
export const folderInBucket = ".catalogue";

/** The file with the selection that a mirror in a bucket was made with. */
export const bindingFile = `${hiddenFolder}/mirror.json`;

/** The index of all assets, written by a mirror without shards or by `--merge`. */
export const completeIndex = "catalogue.ndjson";

/** The decisions about generated images: those of all machines that mirror or review. */
export const decisionsFile = "decisions.csv";

/** Where the files of a mirror are, relative to its folder. */
export interface MirrorFiles {
  readonly index: string;
  /** The folder of everything else. */
  readonly work: string;
  readonly state: string;
  /** The table of assets. */
  readonly table: string;
  /** Exists while the table is ahead of the index. */
  readonly journal: string;
  /** How many images of each product are left out by their decisions. */
  readonly leftOut: string;
}

/** The names of a mirror, or of one of its shards. */
export function mirrorFiles(shard: Shard | null): MirrorFiles {
  const work = `${hiddenFolder}/${shard === null ? "all" : shardName(shard)}`;
  return {
    index: shard === null ? completeIndex : `catalogue.${shardName(shard)}.ndjson`,
    work,
    state: `${work}/state.json`,
    table: `${work}/index.db`,
    journal: `${work}/journal.ndjson`,
    leftOut: `${work}/left-out.json`,
  };
}

/** The names of the mirror or shard with the state at this path; null if it is not a state. */
function filesOfState(path: string): MirrorFiles | null {
  const [, name = ""] = /^\.catalogue-sync\/([^/]+)\/state\.json$/.exec(path) ?? [];
  const shard = shardOfIndex(`catalogue.${name}.ndjson`);
  return name === "all" || shard !== null ? mirrorFiles(shard) : null;
}

/** The shard of an index, from its name; null for any other file. */
export function shardOfIndex(name: string): Shard | null {
  const match = /^catalogue\.([1-9]\d*)-of-([1-9]\d*)\.ndjson$/.exec(name);
  return match === null ? null : { number: Number(match[1]), of: Number(match[2]) };
}

/** The state of a mirror, by which the next run continues. */
export interface MirrorState extends MirrorSelection {
  readonly version: 1;
  /** A digest of the API key of the last run. */
  readonly key?: string;
  /** The time before the last complete read (`Client.earliest`): the next delta starts there. */
  readonly mark: string | null;
  /** The same of the last read of everything. */
  readonly full_read: string | null;
  /** A digest of all decisions that the index has; absent without any. */
  readonly decisions_sha256?: string | undefined;
  /** A digest of the decisions by which the mirror leaves out images; absent if it leaves out none. */
  readonly left_out_sha256?: string | undefined;
  /** The flag by which the last complete run left out images; null without. Absent in older mirrors. */
  readonly filter?: ReviewFilter | null;
  /** The SHA-256 of the index file of the last run. Absent in older mirrors. */
  readonly index_sha256?: string | undefined;
}

/** The state of a mirror; null for a new one. Throws (exit 2) for another mirror or other content. */
export async function readState(
  store: MirrorStore,
  files: MirrorFiles,
  selection: MirrorSelection,
  folder: string,
): Promise<MirrorState | null> {
  let isMirror = false;
  // A run that saved nothing, for example with a wrong role, does not bind the folder.
  const isBlank = async ({ index, journal }: MirrorFiles) =>
    ((await store.stat(index))?.bytes ?? 0) === 0 && (await store.stat(journal)) === null;
  for await (const path of store.list(hiddenFolder)) {
    const mirror = filesOfState(path);
    if (mirror === null) continue;
    isMirror = true;
    if (await isBlank(mirror)) continue;
    rejectOther(parseState(await store.read(path), folder), selection, folder);
  }
  if (!isMirror) {
    await rejectOtherFiles(store, folder);
    return null;
  }
  const own = await store.read(files.state);
  if (own === null) return null;
  const state = parseState(own, folder);
  return listDifferences(state, selection).length === 0 ? state : null;
}

async function rejectOtherFiles(store: MirrorStore, folder: string): Promise<void> {
  for await (const path of store.list())
    if (!path.startsWith(`${hiddenFolder}/`) && path !== decisionsFile) throw notAMirror(folder);
}

/** Whether a folder is a mirror of a service. Throws (exit 2) for another one, or other files. */
export async function isMirrorOf(store: MirrorStore, baseUrl: string, folder: string): Promise<boolean> {
  for await (const path of store.list(hiddenFolder)) {
    if (filesOfState(path) === null && path !== bindingFile) continue;
    const state = parseState(await store.read(path), folder);
    rejectOther(state, { ...state, base_url: baseUrl }, folder);
    return true;
  }
  await rejectOtherFiles(store, folder);
  return false;
}

export async function writeState(store: MirrorStore, files: MirrorFiles, state: MirrorState): Promise<void> {
  await store.put(files.state, [Buffer.from(`${JSON.stringify(state, null, 2)}\n`)]);
}

/** Reads the content of a state. Throws a CatError if it is damaged, or of a newer version. */
export function parseState(content: Buffer | null, folder: string): MirrorState {
  try {
    const state = parseJson(String(content)) as MirrorState & { version: number };
    if (state.version > 1) throw newerMirror(folder);
    if (state.version === 1 && typeof state.base_url === "string") return state;
  } catch (error) {
    if (error instanceof CatError) throw error;
  }
  throw new CatError(`the state of the mirror ${folder} is damaged`, {
    type: "file",
    code: "damaged_mirror",
    hint: `Restore the ${placeWord(folder)} from a backup, or mirror the catalogue into a new one.`,
  });
}

const shown = {
  base_url: (url: string) => `the service ${url}`,
  roles: (roles: readonly string[] | null) => (roles === null ? "all roles" : `--role ${roles.join(",")}`),
  template: (template: string | null) =>
    template === null ? "no --template" : `--template ${JSON.stringify(template)}`,
  shards: (shards: number | null) => (shards === null ? "no --shard" : `--shard I/${shards}`),
};

/** The fields in which two selections differ, in words. */
export function listDifferences(was: MirrorSelection, now: MirrorSelection): string[] {
  return (["base_url", "roles", "template", "shards"] as const).flatMap((field) => {
    const [old, asked] = [was[field] ?? null, now[field] ?? null];
    if (JSON.stringify(old) === JSON.stringify(asked)) return [];
    const text = shown[field] as (value: unknown) => string;
    return [`${text(old)}, not ${text(asked)}`];
  });
}

/** Throws a CatError (exit 2) if a mirror is one of another selection. */
export function rejectOther(was: MirrorSelection, now: MirrorSelection, folder: string): void {
  const differences = listDifferences(was, now);
  if (differences.length > 0) throw anotherMirror(folder, differences);
}

/** The word for the target of a mirror, in hints. */
export const placeWord = (folder: string): string => (isBucketAddress(folder) ? "prefix" : "folder");

/** How to leave a bucket that a first run with a wrong flag or key has bound: part of a hint. */
export const unbinding = (folder: string): string =>
  isBucketAddress(folder)
    ? ` If it has no images yet, delete the objects below ${nameIn(folder, folderInBucket)}/ and run the command again.`
    : "";

const anotherMirror = (folder: string, differences: readonly string[]): CatError =>
  new CatError(`${folder} is another mirror: ${differences.join("; ")}`, {
    type: "file",
    code: "another_mirror",
    hint: `Use the flags of the first run, or choose another ${placeWord(folder)}.${unbinding(folder)}`,
  });

const notAMirror = (folder: string): CatError =>
  new CatError(`${folder} is not empty, and not a mirror of the catalogue`, {
    type: "file",
    code: "not_a_mirror",
    hint: `Choose a new or empty ${placeWord(folder)}, for example ${withoutEnd(folder, /\//)}/catalogue.`,
  });

export const newerMirror = (folder: string): CatError =>
  new CatError(`${folder} was written by a newer version of this program`, {
    type: "file",
    code: "newer_mirror",
    hint: `Update this program, or mirror the catalogue into a new ${placeWord(folder)}.`,
  });
