import { resolve } from "node:path";
import { decisionsFile } from "../../../flows/generate/gallery/describe-run.ts";
import type { EndedRun } from "../../../flows/generate/generate.ts";
import type { CsvStyle } from "../../../flows/outputs/cells.ts";
import { counted, shownName } from "../../../flows/words.ts";
import type { App } from "../../app/app.ts";
import { runFlow } from "../../app/run-flow.ts";
import { UsageError } from "../../context/errors.ts";
import { checkOutFile } from "../../files/out-files.ts";
import { flagLine } from "../../output/command-words.ts";
import type { GenerateFlags } from "./flags.ts";

/** Whether the page replaces a file, and how it saves decisions. */
export interface GalleryOutput {
  readonly replacesGallery: boolean;
  /** Null without a page. */
  readonly decisions: CsvStyle | null;
}

/** How many images are looked up at once. */
const concurrency = 4;

/**
 * Checks before anything is queued that the page of `--gallery` can be written, and asks on a terminal before it replaces a
 * file. Resolves to whether a file may be replaced. `others` are the paths that the command reads or writes besides. Throws
 * UsageError.
 */
export async function checkGallery(app: App, name: string, others: readonly string[]): Promise<boolean> {
  const flag = "--gallery";
  const words = { flag, example: "review.html", left: "nothing was queued" };
  const { replaces } = await checkOutFile(app, name, { ...words, others });
  const { openThumbnailer } = await import("../../../flows/generate/gallery/fetch-images.ts");
  await openThumbnailer().catch((error: unknown) => {
    const why = `the package sharp does not load (${(error as Error).message.split("\n")[0]})`;
    throw new UsageError(`cannot write ${flag} ${app.io.visible(name)}: ${why}`, {
      param: flag,
      hint: "Install catalogue again on this system, or remove --gallery.",
    });
  });
  return replaces;
}

/**
 * Writes the page of a run, and puts its name into the summary; gives why it could not be written. A run that was interrupted
 * gets none, nor one without tasks.
 */
export async function writeRunGallery(
  app: App,
  flags: GenerateFlags & GalleryOutput,
  ended: EndedRun,
): Promise<unknown> {
  const { interrupt: signal, clock, cwd } = app.context;
  const { gallery, save, replacesGallery: replaces, decisions } = flags;
  const { summary, results, tasks } = ended;
  if (gallery === undefined || decisions === null || signal.aborted || summary.tasks.length === 0)
    return undefined;
  const { writeGallery } = await import("../../../flows/generate/gallery/write-gallery.ts");
  const input = {
    run: summary.run_id,
    kind: flags.kind,
    title: shownName(flags.rerun ?? flags.file ?? "one image"),
    // The page saves the decisions in this file.
    rerunCommand: app.io.asCalled(flagLine([flags.kind], { rerun: decisionsFile, save }, app.globals)),
    // A page saves UTF-8 only, which spreadsheets know by its mark.
    csv: {
      delimiter: decisions.delimiter,
      lineEnd: decisions.lineEnd,
      marked: decisions.form.marked || decisions.form.encoding !== "utf-8",
    },
    results,
    tasks,
    savedIn: save === undefined ? null : resolve(cwd, save),
  };
  try {
    const service = { client: await app.client(), clock, signal, concurrency };
    await runFlow(app, async ({ onProgress, onNote }) => {
      const { missing } = await writeGallery(
        { path: resolve(cwd, gallery), replaces },
        input,
        service,
        onProgress,
      );
      if (missing > 0) onNote(`The gallery lacks ${counted(missing, "image")} that could not be fetched.`);
    });
    summary.gallery_file = gallery;
    return undefined;
  } catch (error) {
    return error;
  }
}
