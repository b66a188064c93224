import { SeenTexts } from "../../../client/seen-texts.ts";
import { findMergeable, type MergeableRows, mergedCopy } from "../../../flows/rows/merged-copy.ts";
import type { MergedCopy } from "../../../flows/rows/merged-reader.ts";
import { openRows, type RowFile } from "../../../flows/rows/open-rows.ts";
import { UnreadableInput } from "../../../flows/rows/problem.ts";
import { counted, shownName } from "../../../flows/words.ts";
import type { App } from "../../app/app.ts";
import { openPrompts } from "../../app/prompts.ts";
import { mergeableText } from "../../output/problem-list.ts";
import type { ImportFlags } from "./flags.ts";

/** So many rows are searched for a question: a person waits. The check searches all. */
const searchedRows = 20_000;

/** The rows of each reference as one, by flag or answer; null if they are not merged. */
export async function mergedRows(
  app: App,
  file: RowFile,
  { mergeRows }: ImportFlags,
): Promise<MergedCopy | null> {
  const { random, interrupt: signal } = app.context;
  if (!mergeRows && !(await repeatsReferences(file, random))) return null;
  const progress = await app.io.progress();
  const copy = await mergedCopy(file, { random, signal, onProgress: progress.update }).finally(() =>
    progress.end(),
  );
  let isUsed = false;
  try {
    const name = shownName(file.source.name);
    const mergeable = mergeRows ? null : await findMergeable(copy, file);
    isUsed = mergeRows || (mergeable !== null && (await isAnswered(app, name, mergeable)));
    if (mergeRows && copy.products > 0)
      await app.io.note(
        app.io.visible(
          `${name}: ${counted(copy.rows, "row")} merged into ${counted(copy.products, "product")}.`,
        ),
      );
    return isUsed ? copy : null;
  } finally {
    if (!isUsed) await copy.close();
  }
}

async function repeatsReferences(file: RowFile, random: () => number): Promise<boolean> {
  const seen = new SeenTexts(random);
  let rows = 0;
  try {
    for await (const batch of (await openRows(file)).batches()) {
      for (const { content } of batch) {
        const key = content === null ? undefined : file.form.unique?.toKey(content);
        if (typeof key === "string" && seen.add(key, 1) !== null) return true;
      }
      rows += batch.length;
      if (rows >= searchedRows) break;
    }
  } catch (error) {
    // The check reports why the rest cannot be read.
    if (!(error instanceof UnreadableInput)) throw error;
  }
  return false;
}

async function isAnswered(app: App, name: string, mergeable: MergeableRows): Promise<boolean> {
  await app.io.note(app.io.visible(`${name}: ${mergeableText(mergeable)}`));
  const merges = await (await openPrompts(app)).select(
    "How are the rows of one reference imported?",
    [
      { name: "as one product, with the photos of all its rows", value: true },
      { name: "not at all: list them as problems", value: false },
    ],
    true,
  );
  if (merges && !app.typed.includes("--merge-rows")) app.typed.push("--merge-rows");
  return merges;
}
