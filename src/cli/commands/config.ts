import type { Command } from "commander";
import type { App } from "../app/app.ts";
import { group } from "../flags/command.ts";
import { getCommand } from "./config/get.ts";
import { listCommand } from "./config/list.ts";
import { pathCommand } from "./config/path.ts";
import { setCommand } from "./config/set.ts";
import { unsetCommand } from "./config/unset.ts";

/** `cat config`: the settings in the config file. */
export const configCommand = (app: App): Command =>
  group("config", [
    listCommand(app),
    getCommand(app),
    setCommand(app),
    unsetCommand(app),
    pathCommand(app),
  ]).description("View and change the settings of your profiles. API keys: cat login, cat logout.");
