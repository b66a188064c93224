import type { Command } from "commander";
import type { App } from "../app/app.ts";
import { group } from "../flags/command.ts";
import { listCommand } from "./models/list.ts";

/** `cat models`: the people that a try-on is rendered on. */
export const modelsCommand = (app: App): Command =>
  group("models", [listCommand(app)]).description("View the models that a try-on can show.");
