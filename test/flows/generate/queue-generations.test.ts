import { describe, expect, test } from "vitest";
import { Balance } from "../../../src/flows/generate/balance.ts";
import { type Generation, packGenerations } from "../../../src/flows/generate/generation.ts";
import { type GenerationRun, lookRule } from "../../../src/flows/generate/generation-run.ts";
import { queueGenerations } from "../../../src/flows/generate/queue.ts";
import type { Run } from "../../../src/flows/run/run.ts";
import { tryonRun } from "../tryon-run.ts";

/** A generation of its own consistency group of `size` images. */
const generation = (line: number, productId: string, modelId: string, angleShot: string): Generation => ({
  ...{ kind: "tryon", line, combination: 0, productId, productReference: null, modelId, modelName: null },
  ...{ stylings: [], background: "white", angleShot, lookAtCamera: true, subtype: null, style: null },
});

/** A run of which nothing is sent. */
const generationRun = (run: Run, remaining: Generation[]) =>
  ({
    input: { kind: "tryon", skipInvalid: true },
    run,
    balance: new Balance(run),
    sent: new Map(),
    remaining,
    known: new Map(),
    rule: lookRule({ fresh: false, missing: false, allowDuplicates: false, review: null }, run),
    pid: 1,
    rejected: new Map(),
  }) as unknown as GenerationRun;

describe.each([
  ["an image that replaces a rejected one", true],
  ["a look", false],
])("%s", (_, isRerun) => {
  /** A run to queue two images, of which another one records the first just before. */
  async function rerun(fresh: boolean, allowDuplicates = false) {
    const { client, run: at } = await tryonRun();
    const { state, account } = at;
    const others = {
      account,
      kind: "tryon",
      identity: "other",
      file: "other.csv",
      options: {},
      startedAt: 2,
    };
    state.runs.begin({ id: "other", ...others });
    const remaining = (await client.products.list({ limit: 2 })).data.map(({ id }, place) => ({
      ...generation(place + 2, id, "mdl_001", "full-front"),
      ...(isRerun && { replaces: `task-${place}` }),
    }));
    // The other run records its batch just before this one does.
    const { begin } = state.batches;
    state.batches.begin = (of, batch) => {
      state.batches.begin = begin;
      const memo = packGenerations(remaining.slice(0, 1));
      const looks = batch.looks!.slice(0, 1);
      begin(of, { ...batch, run: "other", idempotencyKey: "theirs", memo, looks });
      // The response tells its task.
      state.batches.accepted("other", 0, ["task-9"]);
      return begin(of, batch);
    };
    const queuing = { ...at, options: fresh ? { fresh: "yes" } : {} };
    const rule = lookRule({ fresh, missing: false, allowDuplicates, review: null }, queuing);
    const run: GenerationRun = { ...generationRun(queuing, remaining), rule };
    expect(await queueGenerations(run, () => {})).toBe(undefined);
    return { known: [...run.known.keys()], sent: [...run.sent.keys()] };
  }

  test("is left out where another run records it first", async () => {
    expect(await rerun(false)).toEqual({ known: ["2.0"], sent: ["3.0"] });
  });

  test("is sent once more with --allow-duplicates, if it replaces none", async () => {
    const { known, sent } = await rerun(false, true);
    expect([known, sent]).toEqual(isRerun ? [["2.0"], ["3.0"]] : [[], ["2.0", "3.0"]]);
  });

  test("is sent once more with --fresh", async () => {
    expect(await rerun(true)).toEqual({ known: [], sent: ["2.0", "3.0"] });
  });
});
