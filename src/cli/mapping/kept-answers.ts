import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { EncodingName } from "../../flows/rows/encoding.ts";
import type { FileAnswers } from "../../flows/rows/mapped-columns.ts";
import type { Source } from "../../flows/rows/source.ts";
import { shownTime } from "../../flows/run/clocks.ts";
import { shownName } from "../../flows/words.ts";
import type { App } from "../app/app.ts";
import { openStateFile, profileStatePath } from "../app/profile-state.ts";

/**
 * The answers "for this file only" of a run of the same content, an open one if there is one; null without any. `ledger`: the
 * file of `--ledger`, which has the runs then. `encoding`: that of the flag.
 */
export async function keptAnswers(
  app: App,
  kind: string,
  source: Source,
  { ledger, encoding }: { ledger?: string | undefined; encoding: EncodingName },
): Promise<FileAnswers | null> {
  const path = ledger === undefined ? await profileStatePath(app) : resolve(app.context.cwd, ledger);
  // A state is not created for a question.
  if (app.globals.mock || path === null || !existsSync(path)) return null;
  const state = ledger === undefined ? await app.state() : await openStateFile(app, ledger);
  const runs = state.runs.ofKind(kind).filter(({ options }) => options.answers !== undefined);
  if (ledger !== undefined) state.close();
  if (runs.length === 0) return null;
  const digest = await source.readDigest();
  const run = runs.find(({ options }) => options.source === digest);
  if (run === undefined) return null;
  const answers = JSON.parse(run.options.answers!) as FileAnswers;
  // Another encoding makes other rows, and so another run.
  if (encoding !== undefined && encoding !== answers.encoding) return null;
  // To start over would generate the images of a finished run again.
  const hint = run.isEnded ? "To change that, use --map and --map-value." : "To choose again, add --fresh.";
  await app.io.note(
    app.io.visible(
      `Columns and values of ${shownName(source.name)} are read as you chose for the run started at ${shownTime(run.startedAt)}. ${hint}`,
    ),
  );
  return answers;
}
