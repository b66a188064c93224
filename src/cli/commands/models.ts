import type { Command } from "commander";
import type { App } from "../app/app.ts";
import { group } from "../flags/command.ts";
import { listCommand } from "./models/list.ts";

/** `cat models`: the people that try-ons can show. */
export const modelsCommand = (app: App): Command =>
  group("models", [listCommand(app)]).description(
    "View the models (people) that can wear your products in try-ons.",
  );
