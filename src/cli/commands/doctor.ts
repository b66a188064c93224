import type { Command } from "commander";
import type { App } from "../app/app.ts";
import { command, examples } from "../flags/command.ts";

/** `cat doctor`: parses the flags; `run` does the work. */
export const doctorCommand = (app: App, run?: (app: App) => Promise<void>): Command =>
  command("doctor")
    .usage("[flags]")
    .description(
      "Check the settings, the API key, the network and this machine, with a next step for each problem. " +
        "Sends at most two requests. Exits with 0 unless a check fails; warnings do not count.",
    )
    .addHelpText(
      "after",
      examples([
        ["find out why commands fail", "cat doctor"],
        ["check a profile in a script", "cat doctor --profile ci --json"],
      ]),
    )
    .action(async () => {
      const { doctor } = await import("./doctor/run.ts");
      await (run ?? doctor)(app);
    });
