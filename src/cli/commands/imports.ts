import type { Command } from "commander";
import type { App } from "../app/app.ts";
import { group } from "../flags/command.ts";
import { getCommand } from "./imports/get.ts";
import { listCommand } from "./imports/list.ts";
import { rowsCommand } from "./imports/rows.ts";
import { watchCommand } from "./imports/watch.ts";

/** `cat imports`: the imports that were sent, and what became of their rows. */
export const importsCommand = (app: App): Command =>
  group("imports", [listCommand(app), getCommand(app), watchCommand(app), rowsCommand(app)]).description(
    "Look at imports that were sent: which there are, how far one is, and what became of its rows. " +
      "To import a file: cat import FILE.",
  );
