import type { Command } from "commander";
import {
  type FrozenCommand,
  isFrozen,
  type RawFrozenFlags,
  readFrozenFlags,
  withFrozenFlags,
} from "./frozen-flags.ts";
import { type LiveInput, type RawLiveFlags, readLiveFlags, withLiveFlags } from "./live-flags.ts";
import { type RawSharedFlags, readSharedFlags, withSharedFlags } from "./shared-flags.ts";

/** The flags as commander hands them over. */
export interface RawExportFlags extends RawSharedFlags, RawLiveFlags, RawFrozenFlags {}

/** What one command is to export. Each mode has flags of its own. */
export type ExportInput = LiveInput | FrozenCommand;

/** Adds the flags of `cat export`, in groups. */
export const withExportFlags = (one: Command): Command =>
  withFrozenFlags(withLiveFlags(withSharedFlags(one)));

/** Checks what commander cannot check by itself. Throws UsageError. */
export function readExportFlags(raw: RawExportFlags): ExportInput {
  const shared = readSharedFlags(raw);
  return isFrozen(raw) ? readFrozenFlags(shared, raw) : readLiveFlags(shared, raw);
}
