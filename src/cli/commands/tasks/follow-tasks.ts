import { join, resolve } from "node:path";
import type { Task } from "../../../contract/resources/task.ts";
import { CatError } from "../../../errors.ts";
import type { Generation } from "../../../flows/generate/generation.ts";
import type { WatchedTasks } from "../../../flows/generate/watch-tasks.ts";
import { patienceOf } from "../../../flows/run/stage.ts";
import { counted } from "../../../flows/words.ts";
import type { App } from "../../app/app.ts";
import { defaultConcurrency } from "../../app/default-concurrency.ts";
import { runFlow } from "../../app/run-flow.ts";
import { ExitCode } from "../../context/exit.ts";
import { checkSaveFolder } from "../../files/save-folder.ts";
import type { Printing } from "../../output/printing.ts";
import type { Thumbnail } from "../../thumbnails/show-thumbnails.ts";
import { savedLine } from "../generate/saved-line.ts";

export interface FollowInput {
  readonly ids: readonly string[];
  /** A run of this machine, whose tasks are meant as well. */
  readonly runId: string | undefined;
  readonly timeoutMs: number | null;
  readonly save: string | undefined;
  readonly maxBytes: number;
  /** Whether to wait until the tasks have ended. */
  readonly wait: boolean;
  readonly printing: Printing<FollowedTask>;
  /** Whether to show images on a terminal. */
  readonly thumbnail: boolean;
}

/** A task with the file that its image was saved in. */
export type FollowedTask = Task & { output_file?: string };

/** Shows tasks, once they have ended with `wait`, and saves their images. */
export async function followTasks(app: App, input: FollowInput): Promise<void> {
  const { clock, cwd, interrupt } = app.context;
  const ofRun = input.runId === undefined ? [] : await tasksOfRun(app, input.runId);
  if (input.save !== undefined) await checkSaveFolder(app, input.save);
  const ids = [...new Set([...input.ids, ...ofRun])];
  const isAll = input.ids.length === 0 && input.runId === undefined;
  const client = await app.client();
  const { watchTasks } = await import("../../../flows/generate/watch-tasks.ts");
  const patience = patienceOf("wait", input.timeoutMs, { clock, signal: interrupt });
  try {
    const service = {
      client,
      clock,
      signal: patience.signal,
      newKey: () => "",
      concurrency: defaultConcurrency,
    };
    const saveTo = input.save === undefined ? null : resolve(cwd, input.save);
    const known = saveTo === null ? () => undefined : await knownTasks(app);
    const watched = await runFlow(app, ({ onProgress }) =>
      watchTasks(
        { ids: isAll ? null : ids, known, saveTo, wait: input.wait, maxBytes: input.maxBytes },
        service,
        onProgress,
      ),
    );
    if (saveTo !== null && watched.files.size > 0) {
      const { writeFolderResults } = await import("../../../flows/generate/folder-results.ts");
      const { formulaGuard = true } = input.printing;
      await writeFolderResults(saveTo, watched.rows, { clock, formulaGuard });
    }
    await tell(app, input, watched);
  } finally {
    patience.release();
  }
}

/** What this machine knows of a task, by its ID. */
async function knownTasks(app: App): Promise<(taskId: string) => Generation | undefined> {
  const { generationsByTask } = await import("../../../flows/generate/generation.ts");
  return generationsByTask(await app.state(), ["tryon", "beautify"]);
}

/** The IDs of the tasks of a run. Throws a CatError of type not_found where this machine has no such run. */
async function tasksOfRun(app: App, runId: string): Promise<string[]> {
  const { sentGenerations } = await import("../../../flows/generate/generation.ts");
  const state = await app.state();
  const run = state.runs.get(runId);
  if (run === null || run.kind === "import") {
    throw new CatError(`unknown run ${JSON.stringify(runId)}`, {
      type: "not_found",
      code: "run_not_found",
      hint: "Use the run_id of a summary of cat tryon or cat beautify on this machine.",
    });
  }
  const sent = [...sentGenerations(state, runId).values()];
  return sent.flatMap(({ taskId }) => taskId ?? []);
}

async function tell(
  app: App,
  { save, wait, printing, thumbnail }: FollowInput,
  watched: WatchedTasks,
): Promise<void> {
  const { tasks, lost, files, faults, stopped } = watched;
  const rows = tasks.map(
    (task): FollowedTask => ({
      ...task,
      ...(files.has(task.id) && { output_file: join(save!, files.get(task.id)!) }),
    }),
  );
  await app.io.show(printing, rows);
  if (thumbnail && app.context.stdout.isTTY && stopped === undefined) {
    const { showThumbnails } = await import("../../thumbnails/show-thumbnails.ts");
    const saveTo = save === undefined ? null : resolve(app.context.cwd, save);
    const pictures = tasks
      .filter(({ output_image }) => output_image !== null)
      .map(
        (task): Thumbnail => ({
          caption: task.id,
          fetch: (fetcher) => fetcher.output(task, files.get(task.id) ?? null, saveTo),
        }),
      );
    await showThumbnails(app, pictures, { thumbnail, printing });
  }
  if (tasks.length === 0 && lost.length === 0 && stopped === undefined) await app.io.note("No tasks found.");
  if (save !== undefined && tasks.length > 0) await app.io.note(app.io.visible(savedLine(files.size, save)));
  if (stopped !== undefined) throw stopped;
  if (lost.length > 0) {
    throw new CatError(`unknown task ${lost.join(", ")}`, {
      type: "not_found",
      code: "task_not_found",
      hint: "Check the ID: cat tasks list",
    });
  }
  const fault = [...faults.values()][0];
  if (fault !== undefined) throw fault;
  const open = tasks.filter(({ status }) => status !== "succeeded" && status !== "failed").length;
  if (!wait && open > 0)
    await app.io.note(`${counted(open, "task")} not finished yet. To wait, use cat tasks watch.`);
  if (tasks.some(({ status }) => status === "failed")) app.exit = ExitCode.partial;
}
