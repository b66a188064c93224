import type { GenerationKind } from "../../../contract/generation-rules.ts";
import { type Decision, isDecisionColumn, readDecisions } from "../../../flows/generate/columns/decisions.ts";
import { type Generation, generationsByTask } from "../../../flows/generate/generation.ts";
import { textSource } from "../../../flows/rows/open-rows.ts";
import { InputError, type Source } from "../../../flows/rows/source.ts";
import { counted, shownName } from "../../../flows/words.ts";
import type { App } from "../../app/app.ts";
import { openInput } from "../../files/open-input.ts";

/** Rows, and the tasks whose rejected images they generate again, by line. */
export interface OpenedInput {
  readonly source: Source;
  readonly replacing: ReadonlyMap<number, string>;
}

/**
 * The rejected images of a review, as rows on the lines of its file. What this machine knows of a task is repeated as it was,
 * with its stylings; of any other task only what the file says. Throws an InputError where nothing is rejected.
 */
export async function openDecisions(app: App, kind: GenerationKind, file: string): Promise<OpenedInput> {
  const source = await openInput(app, { file }, { job: { noun: "run" }, isColumn: isDecisionColumn });
  try {
    const rejected = (await readDecisions(source)).filter(({ decision }) => decision === "reject");
    if (rejected.length === 0) {
      throw new InputError(
        `no image is rejected in ${shownName(file)}; nothing was queued`,
        "nothing_rejected",
        "Reject images in the gallery, and save the decisions again.",
      );
    }
    const known = generationsByTask(await app.state(), [kind]);
    const lines: string[] = [];
    let strangers = 0;
    for (const one of rejected) {
      // Blank lines keep each row on its line.
      while (lines.length < one.fileLine - 1) lines.push("");
      const before = known(one.task_id);
      if (before === undefined) strangers++;
      else rejectEdited(shownName(file), one, before);
      lines.push(JSON.stringify(rowOf(kind, one, before)));
    }
    if (strangers > 0 && kind === "tryon") await app.io.note(foreignNote(strangers, shownName(file)));
    return {
      source: await textSource(file, `${lines.join("\n")}\n`, source.place),
      replacing: new Map(rejected.map(({ fileLine, task_id }) => [fileLine, task_id])),
    };
  } finally {
    await source.close();
  }
}

/** A review does not hold them, and the service does not tell them of a task (Resources, Task). */
const foreignNote = (count: number, file: string): string =>
  `${counted(count, "image")} of ${file} ${count === 1 ? "was" : "were"} generated on another computer: stylings and look_at_camera are unknown here and are not repeated. To keep them, run this command on that computer.`;

/** Rejects a row whose look was changed by hand: the image would be generated as it was, and paid for. */
function rejectEdited(name: string, decision: Decision, known: Generation): void {
  const { background, angleShot, modelId, modelName, productId } = known;
  const before = { background, angle_shot: angleShot, model_id: modelId ?? "", product_id: productId };
  for (const [column, value] of Object.entries(before)) {
    const cell = decision[column as keyof typeof before];
    const isSame =
      cell.toLowerCase() === value.toLowerCase() || (column === "model_id" && cell === modelName);
    if (cell === "" || isSame) continue;
    throw new InputError(
      `${name}:${decision.fileLine}  ${column} is ${JSON.stringify(cell)}, but the rejected image has ${JSON.stringify(value)}; nothing was queued`,
      "edited_decision",
      "--rerun repeats images as they were. For another look, put the row into a file of your own.",
    );
  }
}

function rowOf(kind: GenerationKind, decision: Decision, known: Generation | undefined): object {
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
