import { randomUUID } from "node:crypto";
import { exportFrozen } from "../../../flows/export/frozen/export-frozen.ts";
import type { Selection } from "../../../flows/export/selection/selection.ts";
import type { App } from "../../app/app.ts";
import { defaultConcurrency } from "../../app/default-concurrency.ts";
import { memoryOfProfile } from "../../app/memory.ts";
import { runFlow } from "../../app/run-flow.ts";
import { newRunId } from "../../app/run-id.ts";
import { problemReport, problemsForPeople } from "../../output/problem-list.ts";
import type { FrozenCommand } from "./frozen-flags.ts";
import { reportLines } from "./frozen-report.ts";
import { frozenName, frozenTargets, leftoversOf } from "./frozen-targets.ts";
import { imagesMissing } from "./missing-images.ts";
import { withRoleHint } from "./role-hint.ts";

/** `cat export --manifest` and `--zip`. Throws what stopped it, after the report. */
export async function exportFrozenFiles(app: App, command: FrozenCommand): Promise<void> {
  const { clock, interrupt, pid } = app.context;
  const { format, roles, extract, timeoutMs, fresh, maxBytes } = command;
  const selection = await selectionOf(app, command);
  const name = frozenName(command);
  const listed = command.productsFrom ?? "";
  const list = app.io.json
    ? problemReport(listed, (text) => app.io.data(text), false)
    : problemsForPeople(listed, app, { listsAll: "--json" });
  let unknown = 0;
  const outcome = await runFlow(app, ({ onProgress, onNote, pause }) =>
    exportFrozen(
      {
        ...{ format, roles, selection, name, timeoutMs, fresh, maxBytes },
        extract: extract !== null,
        concurrency: defaultConcurrency,
      },
      {
        ...{ clock, pid, onProgress, onNote },
        newKey: randomUUID,
        runId: newRunId(clock.now(), randomUUID()),
        signal: interrupt,
        client: () => app.client(),
        memory: () => memoryOfProfile(app),
        targets: async (jobs, isDelivered) => {
          pause();
          return frozenTargets(app, command)(jobs, isDelivered);
        },
        onProblem: (problem) => {
          unknown++;
          return list.add(problem);
        },
      },
    ),
  ).finally(async () => {
    if (unknown === 0) return;
    const total = selection!.wanted.length;
    await list.end({ total, valid: total - unknown, invalid: unknown, unusable: false });
  });
  if (app.io.json) await app.io.jsonData(outcome.summary);
  else {
    const isNumbered = format === "zip" && extract === null && outcome.stopped === undefined;
    const leftovers = isNumbered ? await leftoversOf(app, name, outcome.parts) : [];
    for (const line of reportLines(outcome, command, { leftovers, globals: app.globals }))
      await app.io.note(app.io.visible(line));
  }
  if (outcome.stopped !== undefined) throw withRoleHint(outcome.stopped, roles);
  if (outcome.missing > 0) throw imagesMissing(outcome.missing);
}

/** The products that the flags or their file name; null for the entire catalogue. */
async function selectionOf(
  app: App,
  { products, productsFrom, ...reading }: FrozenCommand,
): Promise<Selection | null> {
  if (productsFrom !== null)
    return (await import("./frozen-selection.ts")).readProductsFrom(app, productsFrom, reading);
  if (products.length === 0) return null;
  const { withoutRepetitions } = await import("../../../flows/export/selection/selection.ts");
  return {
    file: null,
    wanted: withoutRepetitions(products.map((name) => ({ name, as: "either", line: 0 }))),
  };
}
