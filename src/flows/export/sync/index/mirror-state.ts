import { CatError } from "../../../../errors.ts";
import type { MirrorStore } from "../store/mirror-store.ts";
import { filesOfState, hiddenFolder, type MirrorFiles } from "./mirror-files.ts";

/** What a folder mirrors: the same in every run. */
export interface Selection {
  readonly base_url: string;
  /** Sorted; null for all. */
  readonly roles: readonly string[] | null;
  /** Null for the names that the service suggests. */
  readonly template: string | null;
  /** The number of shards; null without. */
  readonly shards: number | null;
}

/** What the next run needs to know of the ones before it. */
export interface MirrorState extends Selection {
  readonly version: 1;
  /** A digest of the API key of the last run; missing in a state of an earlier version. */
  readonly key?: string;
  /** The time before the first request of the last complete read (`Client.earliest`): the next delta starts there. */
  readonly mark: string | null;
  /** The same of the last read of everything. */
  readonly full_read: string | null;
}

/**
 * The state of a mirror; null for a new one. Throws a CatError (exit 2) if the folder has other content, or mirrors
 * something else.
 */
export async function readState(
  store: Pick<MirrorStore, "read" | "list" | "stat">,
  files: MirrorFiles,
  selection: Selection,
  folder: string,
): Promise<MirrorState | null> {
  let isMirror = false;
  const isBlank = async ({ index, journal }: MirrorFiles) =>
    ((await store.stat(index))?.bytes ?? 0) === 0 && (await store.stat(journal)) === null;
  for await (const path of store.list(hiddenFolder)) {
    const mirror = filesOfState(path);
    if (mirror === null) continue;
    isMirror = true;
    // A run that saved nothing, for example with a wrong role, does not bind the folder.
    if (await isBlank(mirror)) continue;
    const other = parseState(await store.read(path), folder);
    const differences = differencesOf(other, selection);
    if (differences.length > 0) throw anotherMirror(folder, differences);
  }
  if (isMirror) {
    const own = await store.read(files.state);
    if (own === null) return null;
    const state = parseState(own, folder);
    return differencesOf(state, selection).length === 0 ? state : null;
  }
  for await (const path of store.list()) if (!path.startsWith(`${hiddenFolder}/`)) throw notAMirror(folder);
  return null;
}

/** The bytes of a state. */
export const stateContent = (state: MirrorState): Uint8Array[] => [
  Buffer.from(`${JSON.stringify(state, null, 2)}\n`),
];

/** Reads the content of a state. Throws a CatError if it is damaged, or of a newer version. */
export function parseState(content: Buffer | null, folder: string): MirrorState {
  try {
    const state = JSON.parse(String(content)) as MirrorState & { version: number };
    if (state.version > 1) {
      throw new CatError(`${folder} was written by a newer version of this program`, {
        type: "file",
        code: "newer_mirror",
        hint: "Update this program, or mirror the catalogue into a new folder.",
      });
    }
    if (state.version === 1 && typeof state.base_url === "string") return state;
  } catch (error) {
    if (error instanceof CatError) throw error;
  }
  throw new CatError(`the state of the mirror ${folder} is damaged`, {
    type: "file",
    code: "damaged_mirror",
    hint: "Restore the folder from a backup, or mirror the catalogue into a new one.",
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
export function differencesOf(was: Selection, now: Selection): string[] {
  const differences: string[] = [];
  const compare = <Field extends keyof typeof shown>(field: Field) => {
    const [old, asked] = [was[field] ?? null, now[field] ?? null];
    if (JSON.stringify(old) === JSON.stringify(asked)) return;
    const text = shown[field] as (value: unknown) => string;
    differences.push(`${text(old)}, not ${text(asked)}`);
  };
  for (const field of ["base_url", "roles", "template", "shards"] as const) compare(field);
  return differences;
}

const anotherMirror = (folder: string, differences: readonly string[]): CatError =>
  new CatError(`${folder} is another mirror: ${differences.join("; ")}`, {
    type: "file",
    code: "another_mirror",
    hint: "Use the flags of the first run, or choose another folder.",
  });

const notAMirror = (folder: string): CatError =>
  new CatError(`${folder} is not empty, and not a mirror of the catalogue`, {
    type: "file",
    code: "not_a_mirror",
    hint: `Choose a new or empty folder, for example ${folder.replace(/\/+$/, "")}/catalogue.`,
  });
