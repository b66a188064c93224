import type { Command } from "commander";
import { type LiveInput, type RawLiveFlags, readLiveFlags, withLiveFlags } from "./live-flags.ts";
import { type RawSharedFlags, readSharedFlags, withSharedFlags } from "./shared-flags.ts";

/** The flags as commander hands them over. */
export interface RawExportFlags extends RawSharedFlags, RawLiveFlags {}

/** What one command is to export. Each mode has flags of its own. */
export type ExportInput = LiveInput;

/** Adds the flags of `cat export`, in groups. */
export const withExportFlags = (one: Command): Command => withLiveFlags(withSharedFlags(one));

/** Checks what commander cannot check by itself. Throws UsageError. */
export const readExportFlags = (raw: RawExportFlags): ExportInput => readLiveFlags(readSharedFlags(raw), raw);
