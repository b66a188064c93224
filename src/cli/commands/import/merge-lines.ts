import { knownAfterRuns } from "../../../flows/import/known-failures.ts";
import type { Examples, ImportSummary } from "../../../flows/import/summary.ts";
import { counted, countList } from "../../../flows/words.ts";
import type { ServiceFlags } from "../../context/globals.ts";
import { flagLine } from "../../output/command-words.ts";
import type { ImportFlags } from "./flags.ts";

/** Decides whether a summary names the command that undoes the import. */
interface UndoneBy {
  readonly stopped: unknown;
  readonly isRecorded: boolean;
  readonly globals: ServiceFlags;
}

/** The line about rows that failed for the same reason as before, which a nightly job may accept. */
export function knownLines(
  { known_failures: known }: ImportSummary,
  { knownFailures }: ImportFlags,
  examples: Examples,
): string[] {
  if (known === 0) return [];
  const what = `${counted(known, "known failure")} of these, for the same reason in ${knownAfterRuns} runs or more`;
  const end = knownFailures === "ok" ? "" : ". To exit with 0 for them, add --known-failures ok";
  return [`  ${what}${named(examples, "known")}${end}`];
}

/** The first rows of a kind, in parentheses. */
function named(examples: Examples, kind: Parameters<Examples["of"]>[0]): string {
  const { count, references } = examples.of(kind);
  return count === 0 ? "" : ` (${references.join(", ")}${count > references.length ? ", …" : ""})`;
}

/** Lines about what sheet, service and before disagree on (docs/resuming.md, What is said). */
export function mergeLines({ deleted, photos, not_applied }: ImportSummary, examples: Examples): string[] {
  const changed = examples.of("kept").count;
  const { added: _, adopted, ...changes } = photos;
  const lines: Line[] = [
    [changes.replaced + changes.removed + changes.moved, () => `photos: ${countList(changes)}`],
    [adopted, () => `${counted(adopted, "photo")} ${are(adopted)} at the service already; not sent again`],
    [
      changed,
      () =>
        `${counted(changed, "product")} ${are(changed)} changed at the service since; kept${named(examples, "kept")}`,
    ],
    [
      deleted,
      () =>
        `${counted(deleted, "product")} ${are(deleted)} deleted at the service since${named(examples, "deleted")}; to create ${it(deleted)} again, add --exact`,
    ],
  ];
  return [...shown(lines), ...notAppliedLines(not_applied, examples)];
}

/** A line that is shown if it counts anything. */
type Line = [count: number, text: () => string];

const shown = (lines: readonly Line[]): string[] =>
  lines.filter(([count]) => count > 0).map(([, text]) => `  ${text()}`);

const are = (count: number) => (count === 1 ? "was" : "were");
const it = (count: number) => (count === 1 ? "it" : "them");

/** Lines about what the sheet says that is not carried out, also of a plan. */
export function notAppliedLines(
  { emptied, removed }: ImportSummary["not_applied"],
  examples: Examples,
): string[] {
  return shown([
    [
      emptied,
      () =>
        `${counted(emptied, "field")} ${are(emptied)} emptied in the sheet; kept${named(examples, "emptied")}. To clear ${it(emptied)}, add --exact`,
    ],
    [
      removed,
      () =>
        `${counted(removed, "photo")} ${are(removed)} removed in the sheet; kept${named(examples, "removed")}. To detach ${it(removed)}, add --exact`,
    ],
  ]);
}

/** The command that undoes an import which changed existing products: `last` may be another one by then. */
export function undoLine(
  { run_id, updated, photos }: ImportSummary,
  { ledger }: ImportFlags,
  { stopped, globals, isRecorded }: UndoneBy,
): string[] {
  const changes = updated + photos.replaced + photos.removed + photos.moved;
  if (changes === 0 || !isRecorded || stopped !== undefined || globals.mock) return [];
  return [`To undo it: ${flagLine(["imports", "undo", run_id], { ledger }, globals)}`];
}
