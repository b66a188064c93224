import type { ColorSupportLevel } from "chalk";
import type { Context } from "../context/context.ts";

export const colors = ["bold", "dim", "red", "green", "yellow", "cyan"] as const;
export type Paint = Readonly<Record<(typeof colors)[number], (text: string) => string>>;

/** The colors for stdout or stderr. Loads chalk only if colors are used. */
export async function createPaint(
  context: Context,
  stream: "stdout" | "stderr",
  /** False with `--no-color`. */
  wanted: boolean,
): Promise<Paint> {
  const level = wanted ? colorLevel(context.env, () => context[stream].isTTY) : 0;
  if (level === 0) return plain;
  const { Chalk } = await import("chalk");
  const chalk = new Chalk({ level });
  return paintBy((color) => (text) => chalk[color](text));
}

const paintBy = (by: (color: (typeof colors)[number]) => (text: string) => string): Paint =>
  Object.fromEntries(colors.map((color) => [color, by(color)])) as Paint;

const plain = paintBy(() => (text) => text);

/** FORCE_COLOR decides, then NO_COLOR (if not empty), then whether the stream is a terminal. */
function colorLevel(env: Context["env"], isTTY: () => boolean): ColorSupportLevel {
  const forced = env.FORCE_COLOR;
  if (forced !== undefined) {
    if (forced === "0" || forced === "false") return 0;
    return forced === "2" ? 2 : forced === "3" ? 3 : 1;
  }
  if (env.NO_COLOR !== undefined && env.NO_COLOR !== "") return 0;
  return isTTY() && env.TERM !== "dumb" ? 1 : 0;
}
