import { type Command, Option } from "commander";
import type { App } from "../../app/app.ts";
import { command, examples } from "../../flags/command.ts";
import { duration } from "../../flags/duration.ts";
import { maxBytesFlag, maxBytesOf } from "../../flags/max-bytes.ts";
import { type RawPrintFlags, readPrintFlags, withPrintFlags } from "../../flags/print-flags.ts";
import { resourceId } from "../../flags/resource-id.ts";
import { thumbnailFlag } from "../../flags/thumbnail-flag.ts";
import { followedForm } from "./columns.ts";
import { followTasks } from "./follow-tasks.ts";

interface Flags extends RawPrintFlags {
  thumbnail: boolean;
  run?: string;
  timeout?: number;
  save?: string;
  maxBytes?: number;
}

/** `cat tasks watch`: parses the arguments; `run` does the work. */
export const watchCommand = (app: App, run = followTasks): Command =>
  withPrintFlags(
    command("watch")
      .summary("wait until tasks have ended, and show them")
      .usage("[ID...] [flags]")
      .description(
        "Wait until tasks have ended, and show them. Without an ID or --run: all tasks that are queued or running.",
      )
      .argument("[ID...]", "IDs of tasks")
      .option("--run <RUN>", "all tasks of a run of cat tryon or cat beautify on this machine")
      .option("--save <DIR>", "save the images in a folder")
      .addOption(maxBytesFlag())
      .addOption(thumbnailFlag())
      .addOption(
        new Option("--timeout <TIME>", "how long to wait, for example 90s, 30m, 2h (then: exit 7)").argParser(
          duration,
        ),
      ),
  )
    .addHelpText(
      "after",
      examples([["follow a run and save its images", "cat tasks watch --run RUN --save images"]]),
    )
    .action(async (ids: string[], { run: runId, timeout, save, maxBytes, thumbnail, ...flags }: Flags) =>
      run(app, {
        printing: readPrintFlags(flags, followedForm(save !== undefined)),
        ids: ids.map((id) => resourceId(id, "task")),
        runId,
        timeoutMs: timeout ?? null,
        save,
        maxBytes: maxBytesOf({ maxBytes, save }),
        wait: true,
        thumbnail,
      }),
    );
