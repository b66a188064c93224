import type { Command } from "commander";
import type { App } from "../app/app.ts";
import { group } from "../flags/command.ts";
import { getCommand } from "./images/get.ts";

/** `cat images`: uploaded and generated images. */
export const imagesCommand = (app: App): Command =>
  group("images", [getCommand(app)]).description("View and save images.");
