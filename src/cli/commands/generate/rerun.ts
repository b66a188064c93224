import type { GenerationKind } from "../../../contract/generation-rules.ts";
import { type Decision, readDecisions } from "../../../flows/generate/columns/decisions.ts";
import type { Generation } from "../../../flows/generate/generation.ts";
import { generationsByTask } from "../../../flows/generate/run/stored-generations.ts";
import { shownName } from "../../../flows/rows/shown-name.ts";
import { InputError, openSource, type Source } from "../../../flows/rows/source.ts";
import { textSource } from "../../../flows/rows/text-source.ts";
import type { App } from "../../app/app.ts";

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
  const { cwd, stdin, interrupt } = app.context;
  const source = await openSource(file, { job: { noun: "run" }, cwd, stdin, signal: interrupt });
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
    for (const one of rejected) {
      // Blank lines keep each row on its line.
      while (lines.length < one.fileLine - 1) lines.push("");
      lines.push(JSON.stringify(rowOf(kind, one, known(one.task_id))));
    }
    return {
      source: textSource(file, `${lines.join("\n")}\n`, source.place),
      replacing: new Map(rejected.map(({ fileLine, task_id }) => [fileLine, task_id])),
    };
  } finally {
    await source.close();
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
