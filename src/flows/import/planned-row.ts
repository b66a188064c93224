// A row of a plan: what an import does with the product of a row. Where a plan is applied, rows whose product or photos
// changed since it was made are skipped.

import { CatError } from "../../errors.ts";
import { parseJson } from "../../json.ts";
import type { SomeRows } from "../rows/row-sets.ts";
import { InputError } from "../rows/source.ts";
import type { ServiceIdentity } from "../run/account.ts";
import { runIdentity } from "../run/run.ts";
import { counted, grouped, shownName } from "../words.ts";
import type { DecidedRow } from "./decide.ts";
import type { LedgerField } from "./digests.ts";
import type { ImportInput } from "./import-input.ts";
import type { ImportRun } from "./import-run.ts";
import { packProduct, type ReadProduct } from "./known-product.ts";
import { changedFields } from "./plan.ts";
import { placed } from "./said.ts";
import { untouchedAs } from "./summary.ts";

/** What happens to a row; a row that changes fields may change photos too. `fail`: its reference exists already. */
export const plannedActions = [
  "create",
  "change",
  "add_photos",
  "unchanged",
  "kept",
  "deleted",
  "conflict",
  "skip",
  "fail",
] as const;
export type PlannedAction = (typeof plannedActions)[number];

/** A row of a plan. */
export interface PlannedRow {
  readonly line: number;
  readonly reference: string;
  readonly action: PlannedAction;
  /** The fields that change: the value at the service, and that of the row. */
  readonly fields: Partial<Record<LedgerField, readonly [old: string | null, now: string | null]>>;
  /** The photos that are added: the URL, image ID or path of each. */
  readonly photos: readonly string[];
  /** The images that are detached, and that get another side; missing if there are none. */
  readonly detached?: readonly { readonly image_id: string; readonly why: "replaced" | "removed" }[];
  readonly moved?: readonly { readonly image_id: string; readonly orientation: string }[];
  /** Why the row is left out. */
  readonly conflict?: { readonly code: string; readonly message: string };
  /** The product as it was read; null if there is none. */
  readonly seen: ReadProduct | null;
}

/** What the import does with a row, as its product is. */
export function plannedRow(row: DecidedRow, input: ImportInput): PlannedRow {
  const { line, reference, decision } = row;
  const seen = row.known?.read ?? null;
  const planned = (action: PlannedAction, more: Partial<PlannedRow> = {}): PlannedRow => ({
    ...{ line, reference, action, fields: {}, photos: [], ...more, seen },
  });
  if (decision.kind === "conflict")
    return planned("conflict", { conflict: { code: decision.code, message: decision.message } });
  const left = untouchedAs(decision);
  if (left !== null) return planned(left);
  if (decision.kind !== "send" && decision.kind !== "change") return planned("fail");
  const { detach, move } = decision.edits;
  const changes = {
    ...(detach.length > 0 && { detached: detach.map(({ image, why }) => ({ image_id: image, why })) }),
    ...(move.length > 0 && {
      moved: move.map(({ image, side }) => ({ image_id: image, orientation: side })),
    }),
  };
  const fields = Object.fromEntries(
    Object.entries(changedFields(row)).map(([field, now]) => [
      field,
      [seen?.[field as LedgerField] ?? null, now],
    ]),
  );
  if (decision.kind === "change") return planned("change", { fields, ...changes });
  const photos = decision.images.map((image, index) => placed(image, index).source);
  if (seen === null) return planned("create", { photos });
  if (input.mode === "skip_existing") return planned("skip");
  if (input.mode === "create") return planned("fail");
  const isChange = Object.keys(fields).length > 0 || Object.keys(changes).length > 0;
  return planned(isChange ? "change" : "add_photos", { fields, photos, ...changes });
}

/** The row as a line of a plan. Orientations are left out: the service finds those of unlabeled photos later. */
export const plannedLine = ({ seen, ...row }: PlannedRow): string =>
  JSON.stringify({
    ...row,
    seen: seen && { ...(parseJson(packProduct(seen)) as object), images: seen.images.map(({ id }) => id) },
  });

const planAgain = "Plan again, and apply that plan.";

/** Throws an InputError for a plan of another service, account, file or way to read it. */
export function rejectForeign(
  { applies: plan, file, sameOrganization }: ImportInput,
  identity: string,
  service: ServiceIdentity,
): void {
  if (plan === undefined) return;
  const { source } = file;
  const name = shownName(source.name);
  if (plan.baseUrl !== service.baseUrl)
    throw new InputError(
      `the plan is for ${plan.baseUrl}, not for ${service.baseUrl}`,
      "foreign_plan",
      planAgain,
    );
  if (plan.account !== service.keyFingerprint && !sameOrganization)
    throw new InputError(
      "the plan was made with another API key, which may be of another organization",
      "foreign_plan",
      "If both keys belong to one organization, add --same-organization. If not, plan again.",
    );
  if (plan.fileSha256 !== source.digest)
    throw new InputError(
      `${name} is not the file that was planned: its content differs`,
      "foreign_plan",
      planAgain,
    );
  if (plan.identity !== identity)
    throw new InputError(
      `the photos of ${name}, or the mapping of its columns, changed since the plan was made`,
      "foreign_plan",
      planAgain,
    );
}

/** The identity of the run that applies a plan: an import of the same file is another run. */
export const identityOfApplied = (planId: string, identity: string): string =>
  runIdentity(["plan", planId, identity]);

/**
 * Leaves out the rows, or those among some, that would no longer be imported as planned, as their products were read. Says at
 * the start of the import which these are; with `--strict` throws an InputError.
 */
export async function leaveOutMoved(run: ImportRun, some?: SomeRows): Promise<void> {
  const references: string[] = [];
  for await (const row of run.rows.decided(some)) {
    if (!isMoved(row, run)) continue;
    run.rows.moved.add(row.rowIndex);
    if (references.length < mostNamed) references.push(row.reference);
  }
  const { size } = run.rows.moved;
  if (some !== undefined || size === 0) return;
  const more = size > references.length ? ` and ${grouped(size - references.length)} more` : "";
  const what = `${counted(size, "row")} changed at the service since the plan was made: ${references.join(", ")}${more}`;
  if (run.input.strict)
    throw new CatError(`${what}; nothing was sent (--strict)`, {
      type: "input",
      code: "product_changed",
      hint: "Plan again, or remove --strict to skip these rows.",
    });
  run.deps.onNote(`${what}. ${size === 1 ? "It is" : "They are"} skipped.`);
}

/** References that a message names. */
const mostNamed = 5;

/** Whether a row that needs something would no longer be imported as planned, as its product was read last. */
export function isMoved(row: DecidedRow, { input }: ImportRun): boolean {
  if (untouchedAs(row.decision) !== null || row.decision.kind === "refused") return false;
  const planned = plannedRow(row, input);
  return planned.action !== "skip" && !input.applies!.isPlanned(row.line, plannedLine(planned));
}
