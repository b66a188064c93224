import { progressLines } from "./progress-lines.ts";
import type { ProgressPlace, ProgressView } from "./progress-view.ts";

/** A bar if stderr is a terminal, else or with `lines` a line every ten seconds; nothing if `silent`. */
export async function createProgress(place: ProgressPlace, { lines = false } = {}): Promise<ProgressView> {
  if (place.silent) return { update() {}, end() {} };
  if (!lines && place.context.stderr.isTTY && place.context.env.TERM !== "dumb") {
    const { progressBar } = await import("./progress-bar.ts");
    return progressBar(place);
  }
  return progressLines(place.context);
}
