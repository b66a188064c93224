import type { Command } from "commander";
import type { App } from "../../app/app.ts";
import { UsageError } from "../../context/errors.ts";
import { command, examples } from "../../flags/command.ts";
import { defaultMaxBytes, maxBytesFlag } from "../../flags/max-bytes.ts";
import { type RawPrintFlags, readPrintFlags, withPrintFlags } from "../../flags/print-flags.ts";
import { resourceId } from "../../flags/resource-id.ts";
import { followedForm } from "./columns.ts";
import { followTasks } from "./follow-tasks.ts";

interface Flags extends RawPrintFlags {
  run?: string;
  save?: string;
  maxBytes?: number;
}

/** `cat tasks save`: parses the arguments; `run` does the work. */
export const saveCommand = (app: App, run = followTasks): Command =>
  withPrintFlags(
    command("save")
      .summary("save the images of tasks")
      .usage("[ID...] --save DIR [flags]")
      .description(
        "Save the images of tasks that have succeeded. Images that are saved already are not downloaded again.",
      )
      .argument("[ID...]", "IDs of tasks")
      .option("--run <RUN>", "all tasks of a run of cat tryon or cat beautify on this machine")
      .option("--save <DIR>", "folder for the images")
      .addOption(maxBytesFlag()),
  )
    .addHelpText("after", examples([["save the images of a run", "cat tasks save --run RUN --save images"]]))
    .action(async (ids: string[], { run: runId, save, maxBytes = defaultMaxBytes, ...flags }: Flags) => {
      if (save === undefined)
        throw new UsageError("missing --save", { param: "--save", hint: "Add --save DIR." });
      if (ids.length === 0 && runId === undefined)
        throw new UsageError("missing argument: ID", {
          param: "ID",
          hint: "Use IDs of tasks, or --run RUN.",
        });
      await run(app, {
        printing: readPrintFlags(flags, followedForm(true)),
        ids: ids.map((id) => resourceId(id, "task")),
        runId,
        timeoutMs: null,
        save,
        maxBytes,
        wait: false,
        thumbnail: false,
      });
    });
