import { Argument, type Command } from "commander";
import type { App } from "../app/app.ts";
import { command, examples } from "../flags/command.ts";
import { type Shell, scripts, shells } from "./completion/scripts.ts";

/** `cat completion`: prints the script for a shell. */
export const completionCommand = (app: App): Command =>
  command("completion")
    .usage("SHELL [flags]")
    .description(
      "Print a script that completes commands, flags, profiles, references and model IDs on Tab, for cat and catalogue. " +
        "References and IDs are those that the last list on a terminal showed. Names of files are completed as before.",
    )
    .addArgument(new Argument("<SHELL>", "your shell").choices(shells))
    .addHelpText(
      "after",
      examples([
        ["complete in this bash or zsh", "source <(catalogue completion bash)"],
        ["complete in fish", "catalogue completion fish | source"],
      ]),
    )
    .action(async (shell: Shell) => app.io.data(scripts[shell]));
