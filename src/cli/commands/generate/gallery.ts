import { basename, dirname, join, resolve } from "node:path";
import { isBucketAddress } from "../../../flows/bucket/address.ts";
import type { GalleryData } from "../../../flows/generate/gallery/describe-run.ts";
import type { EndedGeneration } from "../../../flows/generate/generate.ts";
import type { CsvStyle } from "../../../flows/outputs/cells.ts";
import { counted, shownName } from "../../../flows/words.ts";
import type { App } from "../../app/app.ts";
import { runFlow } from "../../app/run-flow.ts";
import { UsageError } from "../../context/errors.ts";
import { checkOutFile } from "../../files/out-files.ts";
import { flagLine, typedLine, waiting } from "../../output/command-words.ts";
import type { GenerateFlags } from "./flags.ts";

/** Whether the page replaces a file, and how it saves decisions. */
export interface GalleryOutput {
  replacesGallery: boolean;
  /** Null without a page. */
  decisions: CsvStyle | null;
}

/** How many images are looked up at once. */
const concurrency = 4;

/**
 * Checks before anything is queued that the page of `--gallery` can be written, and asks on a terminal before
 * it replaces a file. Resolves to whether a file may be replaced. `others` are the paths that the command
 * reads or writes besides. Throws UsageError.
 */
export async function checkGallery(app: App, name: string, others: readonly string[]): Promise<boolean> {
  const flag = "--gallery";
  const words = { flag, example: "review.html", formats: ["html"] as const, left: "nothing was queued" };
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

/** Writes the page of a run with tasks that was not interrupted, for the summary; returns its error. */
export async function writeRunGallery(
  app: App,
  flags: GenerateFlags & GalleryOutput,
  ended: EndedGeneration,
): Promise<unknown> {
  const { interrupt: signal, clock, cwd } = app.context;
  const { gallery, save, replacesGallery: replaces, decisions } = flags;
  const { summary, results, tasks } = ended;
  if (gallery === undefined || decisions === null || signal.aborted || summary.tasks.length === 0)
    return undefined;
  const decisionsFile = decisionsName(flags.rerun ?? flags.file ?? flags.kind);
  const { writeGallery } = await import("../../../flows/generate/gallery/write-gallery.ts");
  const { decisions: recorded } = await app.state();
  const { baseUrl } = await app.connection();
  const input = {
    run: summary.run_id,
    findDecision: (taskId: string) => recorded.of(baseUrl, taskId),
    kind: flags.kind,
    title: shownName(flags.rerun ?? flags.file ?? "one image"),
    decisionsFile,
    commands: commandsFor(app, flags, { decisionsFile, gallery }),
    // A page saves UTF-8 only, which spreadsheets know by its mark.
    csv: {
      delimiter: decisions.delimiter,
      lineEnd: decisions.lineEnd,
      marked: decisions.form.marked || decisions.form.encoding !== "utf-8",
    },
    results,
    tasks,
    // Images in a bucket are fetched from the service.
    savedIn: save === undefined || isBucketAddress(save) ? null : resolve(cwd, save),
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

/** The commands that read the decisions of a page. Rows from standard input cannot be sent again by one. */
function commandsFor(
  app: App,
  { kind, file, rerun, save }: GenerateFlags,
  { decisionsFile, gallery }: { decisionsFile: string; gallery: string },
): GalleryData["commands"] {
  const { globals, io, typed } = app;
  const approve =
    save === undefined || (file === "-" && rerun === undefined)
      ? { record: flagLine(["tasks", "review", decisionsFile], {}, globals) }
      : { approve: typedLine(typed, { ...again, add: ["--approved", decisionsFile] }) };
  const next = join(dirname(gallery), nextPage(gallery));
  const commands = {
    ...approve,
    rerun: flagLine([kind], { rerun: decisionsFile, save, gallery: next }, globals),
  };
  return Object.fromEntries(Object.entries(commands).map(([use, line]) => [use, io.asCalled(line)]));
}

/** The same run, without what it writes besides its images. */
const again = { ...waiting, withoutValues: ["--unknown", "--gallery", "--approved"] };

/**
 * The first file of decisions that a page saves: `looks.csv` gives `looks.decisions.csv`, and its rerun
 * `looks.decisions.round-2.csv`. Later files of a page end in `-2`, `-3`, so that no two reviews share a
 * name.
 */
export function decisionsName(path: string): string {
  const stem = safeStem(path);
  if (!/(?:^|\.)decisions(?:-\d+)?(?:\.round-\d+(?:-\d+)?)*$/.test(stem)) return `${stem}.decisions.csv`;
  const [, before = stem, round = "1", later] = /^(.*)\.round-(\d+)(-\d+)?$/.exec(stem) ?? [];
  return `${later === undefined ? before : stem}.round-${Number(round) + 1}.csv`;
}

/** The name of the next page: `review.html` gives `review-2.html`. */
function nextPage(path: string): string {
  const [, before, page = "1"] = /^(.*?)(?:-(\d+))?$/.exec(safeStem(path)) ?? [];
  return `${before}-${Number(page) + 1}.html`;
}

/** The name of a file without its extension; a browser saves only some characters as they are. */
function safeStem(path: string): string {
  const stem = basename(path === "-" ? "stdin" : path).replace(/\.\w+$/, "");
  return stem.replace(/[^\p{L}\p{N}._-]+/gu, "-").replace(/^[.-]+/, "") || "images";
}
