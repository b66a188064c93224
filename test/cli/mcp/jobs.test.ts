import { expect, test } from "vitest";
import { Jobs } from "../../../src/cli/commands/mcp/jobs.ts";
import { runRows } from "../../../src/cli/commands/mcp/run-rows.ts";
import type { Context } from "../../../src/cli/context/context.ts";
import { MovableClock } from "../../../src/clock.ts";
import { until } from "../../support/until.ts";

/** A command that works as `run` says, with one file whose check is `recheck`. */
function start(run: (context: Context) => Promise<number>, recheck: () => void) {
  const app = {
    globals: { profile: undefined, baseUrl: undefined },
    context: { clock: new MovableClock({ frozenAt: 0 }) },
    runCommand: (_argv: readonly string[], context: Context) => run(context),
  };
  const limit = { check: async () => {}, take: async () => {} };
  const jobs = new Jobs(app as never, limit as never);
  const asking = { canAsk: true, isAgreed: false };
  return {
    jobs,
    job: jobs.start(["import", "a.csv"], "/", [{ path: "a.csv", recheck }], asking, async () => {}),
  };
}

const changed = new Error("was replaced after it was checked");

test("a run is found by the ID of its check as well", async () => {
  let begin = () => {};
  const isReady = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const { jobs, job } = start(
    async ({ onRun }) => {
      await isReady;
      onRun?.("run_sent");
      return 0;
    },
    () => {},
  );
  const given = job.id;
  begin();
  await until(() => job.exit !== null);
  expect([jobs.find(given), jobs.find("run_sent"), jobs.find("run_other")]).toEqual([job, job, undefined]);
  expect(job.report).toMatchObject({ run: "run_sent", state: "ended", exit: 0 });
});

test("what a command printed about a file that was replaced meanwhile is not shown", async () => {
  let isReplaced = false;
  let end = () => {};
  const isRead = new Promise<void>((resolve) => {
    end = resolve;
  });
  const { jobs, job } = start(
    async ({ stdout, stderr }) => {
      stdout.write('{"problems":[{"message":"hunter2"}]}\n');
      stderr.write("Guessed the column hunter2.\n");
      await isRead;
      return 3;
    },
    () => {
      if (isReplaced) throw changed;
    },
  );
  isReplaced = true;
  expect(job.report).toEqual({ run: job.id, state: "running" });
  end();
  await until(() => job.exit !== null);
  expect(() => job.report).toThrow(changed);
  expect(() => job.result).toThrow(changed);
  await expect(runRows({ run: job.id, limit: 25 }, { jobs } as never)).rejects.toThrow(changed);
});

test("a person is not asked about a file that was replaced", async () => {
  const asked: unknown[] = [];
  const { job } = start(
    async ({ confirm }) => {
      await confirm?.({ question: "Generate hunter2?", about: undefined, images: 1 }).catch((error) =>
        asked.push(error),
      );
      return 3;
    },
    () => {
      throw changed;
    },
  );
  await until(() => job.exit !== null || job.question !== null);
  expect([job.question, asked]).toEqual([null, [changed]]);
});

test("the result of a run stays when its file is edited while it works", async () => {
  let isEdited = false;
  const { job } = start(
    async ({ onRun, stdout }) => {
      onRun?.("run_1");
      isEdited = true;
      stdout.write('{"created":1}\n');
      return 0;
    },
    () => {
      if (isEdited) throw changed;
    },
  );
  await until(() => job.exit !== null);
  expect(job.report).toMatchObject({ run: "run_1", result: { created: 1 } });
});
