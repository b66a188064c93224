import type { Command } from "commander";
import type { App } from "../app/app.ts";
import { group } from "../flags/command.ts";
import { getCommand } from "./images/get.ts";
import { uploadCommand } from "./images/upload.ts";

/** `cat images`: uploaded and generated images. */
export const imagesCommand = (app: App): Command =>
  group("images", [getCommand(app), uploadCommand(app)]).description("View, save and upload images.");
