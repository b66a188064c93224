import { nameIn } from "../../../flows/bucket/address.ts";
import { ReviewGate, Reviews } from "../../../flows/export/reviews.ts";
import type { DecisionsReader } from "../../../flows/export/sync/mirror-decisions.ts";
import { decisionsFile } from "../../../flows/export/sync/mirror-state.ts";
import { readDecisions, toDecisions } from "../../../flows/generate/columns/decisions.ts";
import { textSource } from "../../../flows/rows/open-rows.ts";
import { InputError, type Source } from "../../../flows/rows/source.ts";
import type { ReviewDecision } from "../../../state/decisions.ts";
import type { App } from "../../app/app.ts";
import { withHint } from "../../context/errors.ts";
import { orReported } from "../../output/or-reported.ts";
import { openDecisionFile, rejectProblems, savedTime } from "../generate/open-review.ts";
import type { ReviewFlags } from "./role-flags.ts";

/** The decisions of the profile about images of this service, and those of `--decisions`. */
export async function openReviews(app: App, files: readonly string[]): Promise<Reviews> {
  const reviews = new Reviews((await app.state()).decisions.all((await app.connection()).baseUrl));
  for (const file of files) {
    const source = await openDecisionFile(app, file);
    try {
      const times = { savedAt: await savedTime(app, source), now: app.context.clock.now() };
      reviews.add(await orReported(app, { file }, readAll(app, source, times)));
    } finally {
      await source.close();
    }
  }
  return reviews;
}

/** The filter of an export's flags; without one no decision is read. */
export const openGate = async (app: App, { filter, decisions }: ReviewFlags): Promise<ReviewGate> =>
  new ReviewGate(filter === null ? new Reviews() : await openReviews(app, decisions), filter);

/** Reads the decisions of a mirror, with the times of their machines. `left` is for an error. */
export const mirrorDecisions =
  (app: App, mirror: string, left?: string): DecisionsReader =>
  async (content) => {
    const name = nameIn(mirror, decisionsFile);
    const source = await textSource(name, String(content));
    try {
      const times = { savedAt: 0, now: Number.POSITIVE_INFINITY };
      return await readAll(app, { ...source, format: "csv" }, { ...times, left });
    } catch (error) {
      const hint = `Restore ${name} from a copy, or move it away and hand the decisions on again.`;
      throw error instanceof InputError ? withHint(error, hint) : error;
    }
  };

async function readAll(
  app: App,
  source: Source,
  { left = "nothing was exported", ...times }: { savedAt: number; now: number; left?: string | undefined },
): Promise<ReviewDecision[]> {
  const { decisions, problems, located } = await readDecisions(source, null);
  await rejectProblems(app, source.name, problems.map(located), { rows: decisions.length, left });
  return toDecisions(decisions, times);
}
