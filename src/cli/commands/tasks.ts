import type { Command } from "commander";
import type { App } from "../app/app.ts";
import { group } from "../flags/command.ts";
import { getCommand } from "./tasks/get.ts";
import { listCommand } from "./tasks/list.ts";
import { saveCommand } from "./tasks/save.ts";
import { watchCommand } from "./tasks/watch.ts";

/** `cat tasks`: the generations of the organization. */
export const tasksCommand = (app: App): Command =>
  group("tasks", [listCommand(app), getCommand(app), watchCommand(app), saveCommand(app)]).description(
    "View the tasks that generate images, follow them, and save their images.",
  );
