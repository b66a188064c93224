import { progressLines } from "./progress-lines.ts";
import type { ProgressPlace, ProgressView } from "./progress-view.ts";

/** A bar where stderr is a terminal, a line every ten seconds elsewhere, nothing when it is to be silent. */
export async function createProgress(place: ProgressPlace): Promise<ProgressView> {
  if (place.silent) return { update() {}, end() {} };
  if (place.context.stderr.isTTY && place.context.env.TERM !== "dumb") {
    const { progressBar } = await import("./progress-bar.ts");
    return progressBar(place);
  }
  return progressLines(place.context);
}
