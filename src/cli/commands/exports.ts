import type { Command } from "commander";
import type { App } from "../app/app.ts";
import { group } from "../flags/command.ts";
import { downloadCommand } from "./exports/download.ts";
import { getCommand } from "./exports/get.ts";
import { listCommand } from "./exports/list.ts";
import { watchCommand } from "./exports/watch.ts";

/** `cat exports`: the frozen exports started from this machine, and their files. */
export const exportsCommand = (app: App): Command =>
  group("exports", [listCommand(app), getCommand(app), watchCommand(app), downloadCommand(app)]).description(
    "View the exports that the service prepares for you, and save their files. " +
      "To start one: cat export --manifest or cat export --zip.",
  );
