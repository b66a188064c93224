import type { GenerationKind } from "../../../contract/generation-rules.ts";
import type { DecisionRow } from "../../../flows/generate/columns/decisions.ts";
import type { Generation } from "../../../flows/generate/generation.ts";
import { nothingRejected, type Review } from "../../../flows/generate/review.ts";
import { textSource } from "../../../flows/rows/open-rows.ts";
import { InputError, type Source } from "../../../flows/rows/source.ts";
import { counted, shownName } from "../../../flows/words.ts";
import type { App } from "../../app/app.ts";
import { flagLine } from "../../output/command-words.ts";
import { openReview, type ReviewReading, recordDecisions, rerunFlags } from "./open-review.ts";

/** Rows, and the tasks whose rejected images they generate again, by line. */
export interface OpenedInput {
  readonly source: Source;
  readonly replacing: ReadonlyMap<number, string>;
}

/**
 * The rejected images of a review, as rows on the lines of its file. What this machine knows of a task is
 * repeated as it was, with its stylings; of any other task only what the file says. The review is recorded,
 * unless it is for a dry run. Throws an InputError where nothing is rejected.
 */
export async function openDecisions(
  app: App,
  kind: GenerationKind,
  file: string,
  { reading, dryRun }: { reading: ReviewReading; dryRun: boolean },
): Promise<OpenedInput> {
  const outcome = "nothing was queued";
  // Rows that a person has picked are enough: only what they name is generated.
  const use = { left: outcome, asksService: !dryRun, needsAllImages: false, reading };
  const { review, source } = await openReview(app, file, use);
  try {
    if (!dryRun) await recordDecisions(app, review);
    // Also what a later review has approved: the input of a run stays the same.
    const rejected = review.images.filter(({ row }) => row.decision === "reject");
    if (rejected.length === 0) throw nothingRejected(file);
    rejectOtherKind(app, kind, review.file, { images: rejected, reading });
    const lines: string[] = [];
    for (const { row, sent } of rejected) {
      // Blank lines keep each row on its line.
      while (lines.length < row.fileLine - 1) lines.push("");
      lines.push(JSON.stringify(toRow(kind, row, sent?.generation)));
    }
    const strangers = rejected.filter(({ sent }) => sent === undefined).length;
    if (strangers > 0 && kind === "tryon") await app.io.note(foreignNote(strangers, shownName(file)));
    return {
      source: await textSource(file, `${lines.join("\n")}\n`, source.place),
      replacing: new Map(rejected.map(({ row }) => [row.fileLine, row.task_id])),
    };
  } finally {
    await source.close();
  }
}

/** Rejects images of the other command. Throws an InputError that names it. */
function rejectOtherKind(
  app: App,
  kind: GenerationKind,
  file: string,
  { images, reading }: Pick<Review, "images"> & { reading: ReviewReading },
): void {
  const mismatch = images.find(({ sent }) => sent !== undefined && sent.generation.kind !== kind);
  if (mismatch === undefined) return;
  const { kind: needed } = mismatch.sent!.generation;
  throw new InputError(
    `${shownName(file)}:${mismatch.row.fileLine} is about an image of cat ${needed}; nothing was queued`,
    "other_command",
    images.every(({ sent }) => sent?.generation.kind === needed)
      ? `Run ${flagLine([needed], rerunFlags(file, reading), app.globals)}.`
      : "Use one file of decisions for each of cat tryon and cat beautify.",
  );
}

/** A review does not hold them, and the service does not tell them of a task (Resources, Task). */
const foreignNote = (count: number, file: string): string =>
  `${counted(count, "image")} of ${file} ${count === 1 ? "was" : "were"} generated on another computer: stylings and look_at_camera are unknown here and are not repeated. To keep them, run this command on that computer.`;

function toRow(kind: GenerationKind, decision: DecisionRow, known: Generation | undefined): object {
  const product =
    decision.product_id !== ""
      ? { product_id: decision.product_id }
      : { product_reference: decision.product_reference };
  if (known === undefined) {
    const { background, angle_shot, model_id } = decision;
    return { ...product, background, angle_shot, ...(kind === "tryon" && { model_id }) };
  }
  const { productId, modelId, stylings, background, angleShot, lookAtCamera, subtype, style } = known;
  const shared = { product_id: productId, background, angle_shot: angleShot };
  return kind === "tryon"
    ? { ...shared, model_id: modelId, styling_product_ids: stylings, look_at_camera: lookAtCamera }
    : { ...shared, subtype, ...(style !== null && { style }) };
}
