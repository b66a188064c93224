import { Option } from "commander";

/** `--no-thumbnail` for commands that show pictures. */
export const thumbnailFlag = (): Option =>
  new Option("--no-thumbnail", "no small picture on the terminal (or CAT_THUMBNAILS=off)");
