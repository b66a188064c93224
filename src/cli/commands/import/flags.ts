import type { ImportMode, OnImageError } from "../../../contract/value-sets.ts";
import { importVocabulary } from "../../../flows/import/columns.ts";
import type {
  ConflictChoice,
  Limit,
  PhotosMode,
  PlanToApply,
  UnknownChoice,
} from "../../../flows/import/import-input.ts";
import type { InputFormat } from "../../../flows/rows/input-format.ts";
import { shownName } from "../../../flows/words.ts";
import { UsageError } from "../../context/errors.ts";
import { type FileFlags, type RawFileFlags, readFileFlags } from "../../files/file-flags.ts";
import { type BucketFlags, checkBucketFlags } from "../../flags/bucket-flags.ts";
import { named } from "../../flags/values.ts";
import { type MapFlags, type RawMapFlags, readMapFlags } from "../../mapping/map-flags.ts";

export const planFormats = ["table", "markdown"] as const;
export type PlanFormat = (typeof planFormats)[number];

/** The flags that are used as commander reads them. */
interface PlainFlags extends BucketFlags {
  readonly mode: ImportMode;
  readonly onImageError: OnImageError;
  readonly dryRun: boolean;
  readonly skipInvalid: boolean;
  readonly codesAsWritten?: boolean;
  readonly mergeRows?: boolean;
  readonly wait: boolean;
  readonly concurrency: number;
  readonly batch?: number;
  /** The folder that local photos are relative to (default: the folder of the file). */
  readonly imagesRoot?: string;
  readonly imagesFrom?: string;
  readonly pattern?: string;
  readonly imagesOutside: boolean;
  readonly convert: boolean;
  readonly checkPhotos?: boolean;
  readonly ledger?: string;
  readonly fresh: boolean;
  /** Treat a new API key as one of the organization of earlier imports, if the service cannot tell. */
  readonly sameOrganization: boolean;
  /** Show what would change; a name is the file to write the plan to. */
  readonly plan?: string | true;
  readonly planFormat?: PlanFormat;
  readonly maxChanges?: Limit;
  readonly maxRemovals?: Limit;
  readonly exitCode?: boolean;
  readonly exact?: boolean;
  readonly conflicts?: ConflictChoice;
  /** Whether rows that failed in earlier runs too leave the exit status at 0. */
  readonly knownFailures?: "ok";
  readonly apply?: string;
  readonly strict?: boolean;
}

export interface RawFlags extends PlainFlags, RawFileFlags, RawMapFlags {
  readonly timeout?: number;
  readonly photos?: PhotosMode;
  readonly unknown?: UnknownChoice;
}

export interface ImportFlags extends PlainFlags, FileFlags, MapFlags {
  readonly timeoutMs: number | null;
  readonly photos: PhotosMode;
  readonly unknown: UnknownChoice | undefined;
  readonly applies?: PlanToApply | undefined;
  /** The flags that decide what is sent, as they were typed: a plan keeps them. */
  readonly typed: Readonly<Record<string, unknown>>;
}

/** Flags that a plan does not keep: the command that applies it has its own. */
export const ofCommand: ReadonlySet<string> = new Set([
  ..."apply strict knownFailures plan planFormat maxChanges maxRemovals exitCode dryRun".split(" "),
  ..."wait timeout concurrency checkPhotos batch ledger unknown fresh sameOrganization".split(" "),
  ..."results failed report formulaGuard excel template notify metrics endpoint region pathStyle".split(" "),
]);

const removeOne = "Remove one of them.";

/** Flags that a command line cannot combine, though each is valid. */
interface Mistake {
  readonly isWrong: (raw: RawFlags) => boolean;
  readonly what: string | ((raw: RawFlags) => string);
  readonly hint?: string;
  readonly param?: string;
}

/** Flags about products that exist, which rows that are sent as they are do not read. */
const aboutExisting = (param: string, isUsed: (raw: RawFlags) => boolean): Mistake => ({
  isWrong: (raw) => isUsed(raw) && (raw.mode !== "upsert" || raw.photos === "all"),
  what: ({ mode }) => `${param} cannot be used with ${mode === "upsert" ? "--photos all" : `--mode ${mode}`}`,
  param,
});

const mistakes: readonly Mistake[] = [
  {
    isWrong: ({ ledger }) => ledger === "-",
    what: "--ledger -: a ledger cannot be standard input",
    hint: "Choose a file, for example --ledger ledger.db.",
    param: "--ledger",
  },
  {
    isWrong: ({ results, wait }) => results !== undefined && !wait,
    what: "--results cannot be used with --no-wait, which does not wait for results",
  },
  {
    isWrong: ({ photos, mode }) => photos === "new" && mode !== "upsert",
    what: ({ mode }) => `--photos new cannot be used with --mode ${mode}`,
    hint: "Remove --photos: this mode never adds photos to existing products.",
    param: "--photos",
  },
  aboutExisting("--exact", ({ exact }) => exact === true),
  aboutExisting("--conflicts", ({ conflicts }) => conflicts !== undefined),
  aboutExisting("--max-removals", ({ maxRemovals }) => maxRemovals !== undefined),
  {
    isWrong: ({ exitCode, plan }) => exitCode === true && plan === undefined,
    what: "--exit-code needs --plan",
    hint: "Add --plan.",
    param: "--exit-code",
  },
  {
    isWrong: ({ plan, dryRun }) => plan !== undefined && dryRun,
    what: "--plan cannot be used with --dry-run, which reads nothing from the service",
    param: "--plan",
  },
  {
    isWrong: ({ planFormat, plan, apply, dryRun }) =>
      planFormat !== undefined && plan === undefined && (apply === undefined || !dryRun),
    what: "--plan-format needs --plan",
    hint: "Add --plan.",
    param: "--plan-format",
  },
  {
    isWrong: ({ strict, apply }) => strict === true && apply === undefined,
    what: "--strict needs --apply",
    hint: "Add --apply PLAN.",
    param: "--strict",
  },
];

/** Makes the checks that commander cannot make. Throws UsageError. */
export function readFlags(file: string, raw: RawFlags, cwd: string): ImportFlags {
  const files = readFileFlags(file, raw, cwd);
  checkBucketFlags(file, raw);
  named("--ledger", raw.ledger, "Choose a file.");
  named("--images-root", raw.imagesRoot, "Choose a folder.");
  named("--images-from", raw.imagesFrom, "Choose a folder.");
  for (const { isWrong, what, hint = removeOne, param } of mistakes)
    if (isWrong(raw)) throw new UsageError(typeof what === "string" ? what : what(raw), { hint, param });
  const { timeout = null, unknown, mode, photos } = raw;
  return {
    ...raw,
    ...files,
    ...readMapFlags(raw, importVocabulary),
    typed: Object.fromEntries(Object.entries(raw).filter(([name]) => !ofCommand.has(name))),
    timeoutMs: timeout,
    photos: mode === "upsert" ? (photos ?? "new") : "all",
    unknown,
  };
}

export function rejectCsvFlags({ file, delimiter }: ImportFlags, format: InputFormat | undefined): void {
  if (delimiter === undefined || (format !== "ndjson" && format !== "workbook")) return;
  const isNdjson = format === "ndjson";
  throw new UsageError(
    `cannot use --delimiter: ${shownName(file)} is ${isNdjson ? "read as NDJSON" : "a workbook"}`,
    {
      param: "--delimiter",
      hint: `Remove --delimiter${isNdjson ? ", or add --format csv if the file is CSV" : ""}.`,
    },
  );
}
