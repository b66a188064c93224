import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { toReason } from "../../../src/flows/import/known-failures.ts";
import { openState } from "../../../src/state/state.ts";
import { longTest } from "../../support/long-test.ts";
import { repetitions, sampled } from "../../support/repetitions.ts";
import { TestClock } from "../../support/test-clock.ts";
import { createWorld } from "../../support/world.ts";

const cdn = "https://cdn.example.com";
const head = "reference,name,images\n";
const row = (reference: string, ...photos: string[]) =>
  `${reference},Coat,${photos.map((photo) => `${cdn}/${photo}.jpg`).join("|")}\n`;

async function night() {
  const world = await createWorld();
  const run = async (rows: string, flags = "", file = "a.csv") => {
    world.write(file, head + rows);
    const ran = await world.cat(`import ${file} --json --no-progress ${flags}`);
    const { known_failures, failed, partial, failed_file } = JSON.parse(ran.stdout);
    return { exit: ran.exit, known_failures, bad: failed + partial, failed_file };
  };
  return { world, run };
}
const failing = { exit: 8, known_failures: 0, bad: 1, failed_file: "a.failed.csv" };

describe("a row that fails for the same reason", () => {
  test("in three runs in a row is a known failure, which stays in the failed file", async () => {
    const { world, run } = await night();
    const rows = row("DEAD", "1", "fail-not_an_image") + row("OK", "2");
    expect(await run(rows)).toEqual(failing);
    expect(await run(rows)).toEqual(failing);
    expect(await run(rows)).toEqual({ ...failing, known_failures: 1 });
    expect(await run(rows, "--known-failures ok")).toEqual({ ...failing, known_failures: 1, exit: 0 });
    expect(world.read("a.failed.csv")).toMatch(/^DEAD,Coat,.*\/fail-not_an_image\.jpg,image_failed,/m);
  });

  test("is named in the summary for people, with up to three examples", async () => {
    const { world, run } = await night();
    const rows = ["A", "B", "C", "D"].map((name) => row(name, "fail-not_an_image")).join("");
    await run(rows);
    await run(rows);
    const ran = await world.cat("import a.csv --no-progress");
    expect(ran.exit).toBe(8);
    const known = "  4 known failures of these, for the same reason in 3 runs or more (A, B, C, …)";
    expect(ran.stderr).toContain(`${known}. To exit with 0 for them, add --known-failures ok\n`);
    const accepted = await world.cat("import a.csv --no-progress --known-failures ok");
    expect(accepted.exit).toBe(0);
    expect(accepted.stderr).toContain(`${known}\n`);
  });

  test("exits with 8 as long as another row fails too", async () => {
    const { run } = await night();
    const dead = row("DEAD", "fail-not_an_image");
    await run(dead);
    await run(dead);
    const both = dead + row("NEW", "fail-too_large");
    expect(await run(both, "--known-failures ok")).toEqual({ ...failing, known_failures: 1, bad: 2 });
  });

  test.each(
    sampled(
      [
        ["succeeds once", row("DEAD", "3")],
        ["fails for another reason once", row("DEAD", "fail-too_large")],
        ["fails with another photo once", row("DEAD", "fail-not_an_image-2")],
        ["is not in the file once", row("OTHER", "4")],
      ],
      1,
    ),
  )("is counted again if it %s", async (_, between) => {
    const { run } = await night();
    const dead = row("DEAD", "fail-not_an_image");
    for (const rows of [dead, dead, between, dead, dead]) {
      expect(await run(rows, "--known-failures ok")).toMatchObject({ known_failures: 0 });
    }
    expect(await run(dead, "--known-failures ok")).toMatchObject({ known_failures: 1, exit: 0 });
  });

  test.each(sampled(["timeout", "row_failed"], 1))(
    "for a reason that may pass (%s) is never known",
    async (code) => {
      const { run } = await night();
      for (let at = 0; at < 4; at++)
        expect(await run(row("A", `fail-${code}`), "--known-failures ok")).toEqual(failing);
    },
  );

  longTest("is known per file, and nothing is known of standard input", async () => {
    const { world, run } = await night();
    const rows = row("DEAD", "fail-not_an_image");
    await run(rows);
    await run(rows);
    expect(await run(rows, "", "b.csv")).toMatchObject({ known_failures: 0 });
    for (let at = 0; at < 4; at++) {
      const ran = await world.cat("import - --json --no-progress --known-failures ok", {
        stdin: head + rows,
      });
      expect(ran.exit).toBe(8);
    }
    expect(await run(rows)).toMatchObject({ known_failures: 1 });
  });

  longTest("in a run that was resumed counts once", async () => {
    const { world, run } = await night();
    const rows = row("DEAD", "fail-not_an_image");
    await run(rows);
    // Without results the run stays open: the same command resumes it.
    world.write("a.csv", head + rows);
    for (let at = 0; at < 3; at++) {
      const ran = await world.cat("import a.csv --json --no-progress --no-wait");
      expect(ran.exit).toBe(0);
    }
    expect(await run(rows)).toMatchObject({ known_failures: 0 });
    expect(await run(rows)).toMatchObject({ known_failures: 1 });
  });
});

test("a summary counts what an independent count of runs in a row says, also where runs are resumed", async () => {
  const state = await openState(null, { clock: new TestClock() });
  const account = state.accounts.find("x", "y") ?? 1;
  const step = fc.record({
    isResumed: fc.boolean(),
    reasons: fc.record({ A: fc.constantFrom("x", "y", null, "absent"), B: fc.constantFrom("x", "absent") }),
  });
  let place = 0;
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
      const file = state.ledger.openFile(account, `place ${place++}`, 0);
      const history = { A: [] as (string | null)[], B: [] as (string | null)[] };
      for (const [at, { isResumed, reasons }] of steps.entries()) {
        const isSame = isResumed && at > 0;
        for (const name of ["A", "B"] as const) {
          if (isSame) history[name].pop();
          history[name].push(reasons[name]);
        }
        const runId = `run ${history.A.length}`;
        const rows = (["A", "B"] as const).flatMap((reference) => {
          const reason = reasons[reference];
          return reason === "absent" ? [] : [{ reference, reason: reason && Buffer.from(reason) }];
        });
        const known = state.failures.count(file, runId, rows as never, 3);
        state.failures.forget(
          file,
          (["A", "B"] as const).filter((name) => reasons[name] === "absent"),
        );
        state.failures.forgetOthers(file, runId);
        const expected = (["A", "B"] as const).filter((name) => {
          const last = history[name].slice(-3);
          return (
            last.length === 3 &&
            last[0] !== null &&
            last[0] !== "absent" &&
            last.every((one) => one === last[0])
          );
        });
        // A resumed run whose first attempt failed otherwise starts the count again, which only delays it.
        for (const name of known) expect(expected).toContain(name);
        if (steps.every((each) => !each.isResumed)) expect(known).toEqual(expected);
      }
    }),
    { numRuns: repetitions(200, 3_000) },
  );
  state.close();
});

test.each([
  ["http_error", "the server responded with status 404", true],
  ["http_error", "the server responded with status 503", false],
  ["http_error", "the server responded with status 429", false],
  ["timeout", "no response", false],
  ["dns_failed", "unknown host", true],
])("the reason %s (%s) is permanent: %s", (code, message, isPermanent) => {
  const image = {
    index: 0,
    source: `${cdn}/1.jpg`,
    orientation: null,
    status: "failed",
    error: { code, message },
  };
  expect(toReason({ error: null, images: [image] } as never) !== null).toBe(isPermanent);
});
