import type { Command } from "commander";
import type { App } from "../../app/app.ts";
import { command } from "../../flags/command.ts";

/** `cat doctor` */
export const doctorCommand = (app: App): Command =>
  command("doctor", {
    about:
      "Check the settings, the API key, the network and this machine, with a next step for each problem. " +
      "Sends at most two requests. Exits with 0 unless a check fails; warnings do not count.",
    examples: [
      ["find out why commands fail", "cat doctor"],
      ["check a profile in a script", "cat doctor --profile ci --json"],
    ],
  }).action(async () => (await import("./run.ts")).doctor(app));
