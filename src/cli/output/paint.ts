import { Chalk, type ChalkInstance, type ColorSupportLevel } from "chalk";

/** What decides whether a stream is painted. */
export interface PaintChoice {
  isTTY: boolean;
  env: Readonly<Record<string, string | undefined>>;
  /** False with `--no-color`. */
  wanted: boolean;
}

/** The colours for one stream: each of stdout and stderr may be a terminal or not. */
export const painter = (choice: PaintChoice): ChalkInstance => new Chalk({ level: level(choice) });

/** `--no-color` first, then FORCE_COLOR, then NO_COLOR (any value but empty), then whether it is a terminal. */
function level({ isTTY, env, wanted }: PaintChoice): ColorSupportLevel {
  if (!wanted) return 0;
  const forced = env.FORCE_COLOR;
  if (forced !== undefined) {
    if (forced === "0" || forced === "false") return 0;
    return forced === "2" ? 2 : forced === "3" ? 3 : 1;
  }
  if (env.NO_COLOR !== undefined && env.NO_COLOR !== "") return 0;
  return isTTY && env.TERM !== "dumb" ? 1 : 0;
}
