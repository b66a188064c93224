import { InvalidArgumentError } from "commander";
import type { SyncInput } from "../../../flows/export/sync/sync-run.ts";
import { UsageError } from "../../context/errors.ts";
import { defaultMaxBytes } from "../../flags/common-flags.ts";
import { readRoles } from "./shared-flags.ts";

/** The flags as commander hands them over. */
export interface RawSyncFlags {
  role?: string[];
  template?: string;
  shard?: { number: number; of: number };
  delete?: boolean;
  maxDelete?: number;
  dryRun?: boolean;
  verify?: boolean;
  full?: boolean;
  fullEvery: number;
  merge?: boolean;
  sameOrganization?: boolean;
  concurrency: number;
  maxBytes?: number;
}

/** The input of one command: a run, or the merge of indexes. */
export interface SyncFlags extends SyncInput {
  readonly merge: boolean;
}

/** Checks what commander cannot check by itself. Throws UsageError. */
export function readSyncFlags(folder: string, raw: RawSyncFlags): SyncFlags {
  const { template, shard, maxDelete, fullEvery, merge = false, concurrency } = raw;
  if (folder.trim() === "") {
    const hint = "Choose a folder, for example cat export sync images.";
    throw new UsageError("DIR is empty", { param: "DIR", hint });
  }
  if (maxDelete !== undefined && raw.delete !== true) {
    const hint = "Add --delete, or remove --max-delete.";
    throw new UsageError("--max-delete needs --delete", { param: "--max-delete", hint });
  }
  if (merge) rejectOthers(raw);
  return {
    folder,
    roles: readRoles(raw.role),
    template: template ?? null,
    shard: shard ?? null,
    delete: raw.delete ?? false,
    maxDelete: maxDelete ?? null,
    dryRun: raw.dryRun ?? false,
    verify: raw.verify ?? false,
    full: raw.full ?? false,
    fullEveryMs: fullEvery === 0 ? null : fullEvery,
    merge,
    concurrency,
    maxBytes: raw.maxBytes ?? defaultMaxBytes,
    sameOrganization: raw.sameOrganization ?? false,
  };
}

/** A merge only joins what the shards have: no other flag has an effect on it. */
function rejectOthers(raw: RawSyncFlags): void {
  const others = [
    ["--role", raw.role],
    ["--template", raw.template],
    ["--shard", raw.shard],
    ["--delete", raw.delete],
    ["--dry-run", raw.dryRun],
    ["--verify", raw.verify],
    ["--full", raw.full],
    ["--same-organization", raw.sameOrganization],
    ["--max-bytes", raw.maxBytes],
  ] as const;
  const [flag] = others.find(([, value]) => value !== undefined) ?? [];
  if (flag === undefined) return;
  throw new UsageError(`--merge cannot be used with ${flag}`, { hint: "Remove one of them." });
}

/** Parses `I/N`, for a flag. */
export function readShard(text: string): { number: number; of: number } {
  const [, number = "", of = ""] = /^([1-9]\d{0,3})\/([1-9]\d{0,3})$/.exec(text) ?? [];
  if (number !== "" && Number(number) <= Number(of)) return { number: Number(number), of: Number(of) };
  throw new InvalidArgumentError("use I/N with I from 1 to N, such as 1/3");
}
