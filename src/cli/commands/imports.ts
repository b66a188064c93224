import type { Command } from "commander";
import type { App } from "../app/app.ts";
import { group } from "../flags/command.ts";
import { getCommand } from "./imports/get.ts";
import { listCommand } from "./imports/list.ts";
import { rowsCommand } from "./imports/rows.ts";
import { watchCommand } from "./imports/watch.ts";

/** `cat imports`: the imports sent from this machine, and the results of their rows. */
export const importsCommand = (app: App): Command =>
  group("imports", [listCommand(app), getCommand(app), watchCommand(app), rowsCommand(app)]).description(
    "View the imports that you sent, their progress and the results of their rows. " +
      "To import a file: cat import FILE.",
  );
