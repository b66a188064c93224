import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { type ClaimedLook, type LookSettings, lookDigest } from "../../src/state/looks.ts";
import { openState } from "../../src/state/state.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const service = "http://service.example";

const look: LookSettings = {
  ...{ productId: "P1", modelId: "M1", stylings: ["P2", "P3"], background: "#F4F1EA" },
  ...{ angleShot: "full-front", lookAtCamera: true, subtype: null, style: null },
};

/** Two processes on the state of one profile, each with a run. */
async function twoRuns() {
  const path = join(temporaryFolder(), "default.db");
  const open = async (run: string) => {
    const state = await openState(path, { clock: systemClock() });
    onTestFinished(() => state.close());
    const account = state.accounts.find(service, "print") ?? state.accounts.createFor(service, "print");
    const begun = { account, kind: "tryon", identity: run, file: `${run}.csv`, options: {}, startedAt: 1 };
    state.runs.begin({ id: run, ...begun });
    let index = 0;
    return {
      state,
      account,
      /** Claims images in one batch; the digest that another run has, or null. */
      claim: (looks: readonly ClaimedLook[], exclusive = true) =>
        state.batches.begin(account, {
          ...{ run, index: index++, idempotencyKey: `${run}-${index}`, sentAt: 1, sentAtService: 1 },
          ...{
            rows: Uint32Array.of(0),
            lines: Uint32Array.of(2),
            body: Buffer.from("{}"),
            memo: Buffer.from("[]"),
          },
          ...{ references: [], exclusive, looks },
        }),
      accept: (at: number, ...tasks: string[]) => state.batches.accepted(run, at, tasks),
      drop: (at: number) => state.batches.dropped(run, at),
    };
  };
  return { one: await open("one"), other: await open("other") };
}

const claimOf = (digest: string, more: Partial<ClaimedLook> = {}): ClaimedLook => ({
  ...{ digest, replaces: null, isShared: false },
  ...more,
});

test("a look does not depend on the order of stylings, nor on the case of a color", () => {
  const same = { ...look, stylings: ["P3", "P2", "P3"], background: "#f4f1ea" };
  expect(lookDigest(same)).toBe(lookDigest(look));
  const others: Partial<LookSettings>[] = [
    { productId: "P4" },
    { modelId: "M2" },
    { stylings: ["P2"] },
    { background: "#f4f1eb" },
    { angleShot: "full-back" },
    { lookAtCamera: false },
    { subtype: "shoes" },
    { style: "ghost" },
  ];
  const digests = others.map((other) => lookDigest({ ...look, ...other }));
  expect(new Set([lookDigest(look), ...digests]).size).toBe(others.length + 1);
});

test("a look is claimed by one of two processes, and by the other one once its request was dropped", async () => {
  const { one, other } = await twoRuns();
  const [a, b] = [claimOf("a"), claimOf("b")];
  expect(one.claim([a])).toBe(null);
  expect(other.claim([b, a])).toBe("a");
  expect(other.state.looks.of(other.account, "b")).toEqual([]);
  expect(other.claim([claimOf("a", { isShared: true })])).toBe(null);
  expect(other.claim([a], false)).toBe(null);
  one.drop(0);
  expect(one.state.looks.of(one.account, "a").map(({ run }) => run)).toEqual(["other", "other"]);
});

test("a look whose task has failed, or whose image is rejected, is free, but what replaces it is not", async () => {
  const { one, other } = await twoRuns();
  one.claim([claimOf("a"), claimOf("b")]);
  one.accept(0, "task-a", "task-b");
  expect(other.claim([claimOf("a")])).toBe("a");
  one.state.looks.ended([{ id: "task-a", status: "failed" }]);
  const rejected = { task: "task-b", run: "one", decision: "reject", note: "", at: 1, reviewer: "" } as const;
  one.state.decisions.record(service, [rejected]);
  expect(one.state.looks.of(one.account, "b")).toMatchObject([{ task: "task-b", isRejected: true }]);
  expect(other.claim([claimOf("a"), claimOf("b", { replaces: "task-b" })])).toBe(null);
  // Another look, as a file of decisions of another machine describes it.
  expect(one.claim([claimOf("c", { replaces: "task-b" })])).toBe("c");
  other.accept(1, "task-2", "task-3");
  other.state.looks.ended([{ id: "task-3", status: "failed" }]);
  expect(one.claim([claimOf("c", { replaces: "task-b" })])).toBe(null);
});
