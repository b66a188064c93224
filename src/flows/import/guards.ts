// Guards: what a user has to confirm, or to allow by a flag, before anything is sent (docs/resuming.md,
// Guards).

import { shortened } from "../../contract/did-you-mean.ts";
import { CatError } from "../../errors.ts";
import type { CheckResult } from "../rows/check.ts";
import { doubtsAmong } from "../rows/notes.ts";
import { counted, countList, grouped, shownName } from "../words.ts";
import type { CheckedFile, ImportHost, Limit } from "./import-input.ts";
import type { ImportRun } from "./import-run.ts";
import type { Plan } from "./plan.ts";
import { lookalikeCode } from "./references.ts";

/** Changes up to this number, and up to a tenth, need no question. */
const fewChanges = 20;
const isMuch = (count: number, total: number): boolean => count > fewChanges && count * 10 > total;

const decidable: readonly string[] = ["changed_since", "product_deleted", "photo_exists"];

/** Asks once about conflicts; returns whether rows are decided again. Throws if the user stops. */
export async function askAboutPlan(plan: Plan, { input, host, choices }: ImportRun): Promise<boolean> {
  const { conflictRows, conflicts } = plan;
  const isOpen = (input.conflicts ?? choices.conflicts) === undefined;
  if (
    !isOpen ||
    host.askConflicts === undefined ||
    !conflictRows.some(({ code }) => decidable.includes(code))
  )
    return false;
  const choice = await host.askConflicts({
    file: shownName(input.file.source.name),
    conflicts,
    rows: conflictRows,
  });
  if (choice === "stop") throw declined(input.file.source.name);
  choices.conflicts = choice;
  return true;
}

/**
 * Why nothing is sent because of rows that --skip-invalid leaves out: they would create products without a
 * photo, as a sheet without photo columns only changes products, or next to one whose reference looks the
 * same. Null if there are none.
 */
export function rowsRejection(plan: Plan, { input }: ImportRun): CatError | null {
  if (input.skipInvalid) return null;
  const file = shownName(input.file.source.name);
  return withoutPhotosRejection(plan, file) ?? lookalikesRejection(plan, file);
}

function withoutPhotosRejection({ withoutPhotos: { count, lines } }: Plan, file: string): CatError | null {
  if (count === 0) return null;
  const named = `${lines.length === 1 ? "line" : "lines"} ${lines.join(", ")}${count > lines.length ? ", …" : ""}`;
  return new CatError(
    `${counted(count, "row")} of ${file} ${count === 1 ? "has" : "have"} no photo, and no product with ${count === 1 ? "its reference" : "their references"} exists (${named}); nothing was sent`,
    {
      type: "input",
      code: "no_images",
      hint: "Add photos to these rows, correct their references, or add --skip-invalid to import the others.",
    },
  );
}

function lookalikesRejection({ lookalikes: { count, first } }: Plan, file: string): CatError | null {
  if (first === null) return null;
  const others = count === 1 ? "" : `, as do the references of ${counted(count - 1, "other row")}`;
  return new CatError(`${file}:${first.line}: ${first.message}${others}; nothing was sent`, {
    type: "input",
    code: lookalikeCode,
    hint: `${first.command === undefined ? "Use one of the two references for both" : `To correct the reference of the product, run ${first.command}`}, or add --skip-invalid to import the other rows.`,
  });
}

const declined = (
  file: string,
  hint = "To decide without a question, add --conflicts service or --conflicts sheet.",
): CatError =>
  new CatError(`nothing of ${shownName(file)} was sent`, { type: "usage", code: "declined", hint });

/** Asks about files with values that a program may have damaged. Throws if the user declines. */
export async function confirmDoubts(files: readonly CheckedFile[]): Promise<void> {
  for (const { check, input, host } of files) {
    const doubts = doubtsAmong(check.notes ?? []);
    const [first] = doubts;
    if (first === undefined || host.confirm === undefined) continue;
    const { name } = input.file.source;
    const count = doubts.reduce((sum, doubt) => sum + doubt.count, 0);
    const values = `${counted(count, "doubtful value")} of ${shownName(name)} as ${count === 1 ? "it is" : "they are"}`;
    // With --quiet, nothing else says which.
    if (!(await host.confirm(`Import ${values} (${shortened(first.value)})?`)))
      throw declined(name, correctIt);
  }
}

/** Says, and asks on a terminal, where new references are probably existing ones in another writing. */
export async function confirmLikeExisting({ likeExisting }: Plan, run: ImportRun): Promise<void> {
  const { check, host, input } = run;
  const [note] = likeExisting.list();
  if (note === undefined) return;
  check.notes = [...(check.notes ?? []), note];
  const file = shownName(input.file.source.name);
  host.onNote(`${file}:${note.line}  ${note.message}.`);
  if (host.confirm === undefined) return;
  const products =
    note.count === 1
      ? "a new product in addition to the existing one"
      : `${grouped(note.count)} new products in addition to the existing ones`;
  if (!(await host.confirm(`Create ${products} (${note.value})?`)))
    throw declined(input.file.source.name, correctIt);
}

const correctIt = "Correct the file. To import it without a question, add --yes.";

/** Throws, or asks, if the import would send, change or detach more than is usual, or than a flag allows. */
export async function rejectExcess(plan: Plan, run: ImportRun): Promise<void> {
  const { input, check, rows } = run;
  const excess =
    tooManyChanges(rows.finished + plan.changing, check, input.maxChanges) ??
    tooManyRemovals(plan, input.maxRemovals);
  if (excess !== null) throw excess;
  if (input.maxRemovals === undefined) await askAboutRemovals(plan, run);
  if (input.maxChanges === undefined) await askAboutNewSheet(plan, run);
}

/** The error for a file of which more rows would be sent than `--max-changes` allows; null for any other. */
export function tooManyChanges(
  rows: number,
  { total, invalid }: Pick<CheckResult, "total" | "invalid">,
  most: Limit | undefined,
): CatError | null {
  const valid = total - invalid;
  if (most === undefined || isAllowed(rows, valid, most)) return null;
  const share = "percent" in most ? ` (${Math.floor((rows * 100) / valid)}%)` : "";
  return new CatError(
    `${grouped(rows)} of ${counted(valid, "row")}${share} would be sent, more than --max-changes ${limitText(most)}; nothing was sent`,
    {
      type: "input",
      code: "too_many_changes",
      param: "--max-changes",
      hint: `Check them with --plan. If they are right, use --max-changes ${enough(rows, valid, most)}.`,
    },
  );
}

/** The error for a file that detaches more photos than `--max-removals` allows; null for any other. */
export function tooManyRemovals(
  { photos, ownPhotos }: RemovalCounts,
  most: Limit | undefined,
): CatError | null {
  const removals = removalsOf(photos);
  if (most === undefined || isAllowed(removals, ownPhotos, most)) return null;
  return excessOfRemovals({ photos, ownPhotos }, `more than --max-removals ${limitText(most)}`, most);
}

const removalsOf = ({ replaced, removed }: Plan["photos"]): number => replaced + removed;

type RemovalCounts = Pick<Plan, "photos" | "ownPhotos">;

function excessOfRemovals({ photos, ownPhotos }: RemovalCounts, what: string, most: Limit): CatError {
  const removals = removalsOf(photos);
  return new CatError(
    `${grouped(removals)} of ${counted(ownPhotos, "photo")} would be detached, ${what}; nothing was sent`,
    {
      type: "input",
      code: "too_many_removals",
      param: "--max-removals",
      hint: `Check them with --plan. If they are right, use --max-removals ${enough(removals, ownPhotos, most)}.`,
    },
  );
}

/** The line of a plan about removals that the import asks about; null if it does not. */
export function removalsToConfirm({ photos, ownPhotos }: RemovalCounts): string | null {
  const removals = removalsOf(photos);
  if (!isMuch(removals, ownPhotos)) return null;
  return `The import detaches ${grouped(removals)} of ${counted(ownPhotos, "photo")}: it asks first on a terminal, and elsewhere needs --max-removals ${removals}.`;
}

async function askAboutRemovals(plan: Plan, { host, input }: ImportRun): Promise<void> {
  const { photos, ownPhotos } = plan;
  const removals = removalsOf(photos);
  if (!isMuch(removals, ownPhotos)) return;
  const question = `Detach ${grouped(removals)} of ${counted(ownPhotos, "photo")} (${countList({ replaced: photos.replaced, removed: photos.removed })})?`;
  await confirm(question, host, input.file.source.name, () =>
    excessOfRemovals(plan, "more than a tenth", { rows: 0 }),
  );
}

/** A plain sheet that was never imported from here may be an old one. */
async function askAboutNewSheet(plan: Plan, { host, input, said }: ImportRun): Promise<void> {
  const { changed, existing, fields, isExported } = plan;
  if (isExported || said.areAny || !isMuch(changed, existing)) return;
  const what = `${grouped(changed)} of ${counted(existing, "product")}: ${fieldsText(fields)}`;
  await confirm(`Change ${what}?`, host, input.file.source.name, () => {
    host.onNote(`This file was not imported from here before, and changes ${what}.`);
    return null;
  });
}

/** The fields that change, e.g. `50 names, 2 sexes`. */
export const fieldsText = ({ name, description, sex }: Plan["fields"]): string =>
  [
    name > 0 && counted(name, "name"),
    description > 0 && counted(description, "description"),
    sex > 0 && `${grouped(sex)} ${sex === 1 ? "sex" : "sexes"}`,
  ]
    .filter((part) => part !== false)
    .join(", ");

/** Asks on a terminal; elsewhere `otherwise` gives the error, null to go on. Throws if the user declines. */
async function confirm(
  question: string,
  { confirm }: ImportHost,
  file: string,
  otherwise: () => CatError | null,
): Promise<void> {
  if (confirm === undefined) {
    const error = otherwise();
    if (error !== null) throw error;
  } else if (!(await confirm(question))) throw declined(file);
}

const isAllowed = (count: number, total: number, most: Limit): boolean =>
  "percent" in most ? count * 100 <= most.percent * total : count <= most.rows;

const limitText = (most: Limit): string => ("percent" in most ? `${most.percent}%` : grouped(most.rows));

const enough = (count: number, total: number, most: Limit): string =>
  "percent" in most ? `${Math.min(100, Math.ceil((count * 100) / total))}%` : String(count);
