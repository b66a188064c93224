import { CatError } from "../../errors.ts";
import {
  imagesOf,
  isWithinLimit,
  lastPhoto,
  type MaxRemovals,
  removeEach,
} from "../../flows/catalogue/removals.ts";
import { imageColumn } from "../../flows/export/selection/columns.ts";
import {
  type FoundSelection,
  findSelection,
  unknownProblem,
  type WantedProduct,
} from "../../flows/export/selection/selection.ts";
import type { InputProblem } from "../../flows/rows/problem.ts";
import { writeEstimate } from "../../flows/run/writes.ts";
import type { Service } from "../../flows/service.ts";
import { counted, listFirst } from "../../flows/words.ts";
import type { App } from "../app/app.ts";
import { confirmAction } from "../app/confirm-action.ts";
import { type CommandHost, defaultConcurrency, runFlow } from "../app/run-flow.ts";
import { readProductsFile } from "../mapping/products-file.ts";
import { problemsForPeople } from "../output/problem-list.ts";
import type { RemovalFlags } from "./removal-flags.ts";
import type { RemovalEntry, RemovalKind, RemovalOutcome } from "./removal-kinds.ts";
import { entryName, mostNamedEntries, reportRemoval } from "./removal-report.ts";

/** Removes what a file names, after a question. Throws what stopped it, or says why not all is removed. */
export async function removeFromFile(app: App, flags: RemovalFlags, kind: RemovalKind): Promise<void> {
  const { file } = flags;
  const words = { kind: kind.selection, noun: kind.noun, left: `nothing was ${kind.done}` };
  const runId = flags.dryRun ? null : await app.runs.begin(kind.noun, file);
  const selection = await readProductsFile(app, file, flags, words);
  const outcome = await runFlow(app, async (host): Promise<RemovalOutcome> => {
    const service: Service = { ...host, client: await host.client(), concurrency: defaultConcurrency };
    const startedAt = host.clock.now();
    const found = await findSelection(selection, service, (done, total) =>
      host.onProgress({ step: "looking up products", done, total }),
    );
    const { entries, problems } = toRemovals(found);
    host.pause();
    if (!app.io.json) await listProblems(app, file, problems);
    const open = entries.filter(({ removed }) => removed === null);
    const excess = await excessOf(open, flags.most, service, kind);
    if (runId === null) return { runId: null, entries, problems, stopped: excess };
    if (excess !== undefined) throw excess;
    if (open.length > 0) await confirm(app, open, kind, host);
    app.runs.starts(runId);
    const step = kind.verb === "delete" ? "deleting" : "detaching";
    let done = 0;
    const stopped = await removeEach(open, startedAt, service, (entry, removed) => {
      entry.removed = removed;
      host.onProgress({ step, done: ++done, total: open.length });
    });
    return { runId, entries, problems, stopped };
  });
  await reportRemoval(app, outcome, flags, kind);
}

/** Removals, each once, and rows that name nothing. A last photo is kept from the start. */
function toRemovals({ found, unknown }: FoundSelection): Pick<RemovalOutcome, "entries" | "problems"> {
  const entries = new Map<string, RemovalEntry>();
  const problems = unknown.map(unknownProblem);
  const left = new Map<string, number>();
  for (const { named, product } of found) {
    const { imageId = null } = named;
    const key = `${product.id} ${imageId}`;
    if (entries.has(key)) continue;
    const entry: RemovalEntry = { named, product, imageId, removed: null };
    if (imageId !== null) {
      const images = imagesOf(product);
      if (!images.some(({ id }) => id === imageId)) {
        problems.push(noPhotoProblem(named, imageId));
        continue;
      }
      const rest = (left.get(product.id) ?? images.length) - 1;
      if (rest === 0) entry.removed = { result: "kept", reason: lastPhoto };
      else left.set(product.id, rest);
    }
    entries.set(key, entry);
  }
  return { entries: [...entries.values()], problems: problems.sort((a, b) => a.line - b.line) };
}

const noPhotoProblem = ({ line, place, name }: WantedProduct, imageId: string): InputProblem => ({
  line,
  ...place,
  reference: name,
  param: imageColumn,
  code: "image_not_found",
  message: `the product ${name} has no photo ${imageId}`,
});

async function listProblems(app: App, file: string, problems: readonly InputProblem[]): Promise<void> {
  const list = problemsForPeople(file, app, { listsAll: "--json" });
  for (const problem of problems) await list.add(problem);
  if (problems.length > 0) await list.end();
}

/** The error for more removals than the limit allows: exit 3; undefined for no more. */
async function excessOf(
  entries: readonly RemovalEntry[],
  most: MaxRemovals | null,
  service: Service,
  kind: RemovalKind,
): Promise<CatError | undefined> {
  const { length } = entries;
  if (await isWithinLimit(most, length, (enough) => kind.total(entries, service, enough))) return undefined;
  const given =
    most === null
      ? `20 and more than a tenth of ${kind.all}`
      : `${kind.limit} ${"count" in most ? most.count : `${most.percent}%`}`;
  return new CatError(
    `${counted(length, kind.thing)} would be ${kind.done}, more than ${given}; nothing was ${kind.done}`,
    {
      type: "input",
      code: kind.limitCode,
      param: kind.limit,
      hint: `Check them with --dry-run. If they are right, use ${kind.limit} ${length}.`,
    },
  );
}

async function confirm(
  app: App,
  entries: readonly RemovalEntry[],
  { verb, thing, done }: RemovalKind,
  { writesPerMinute, pause }: CommandHost,
): Promise<void> {
  const what = counted(entries.length, thing);
  const estimate = writeEstimate(entries.length, writesPerMinute);
  if (estimate !== null) await app.io.note(`${what} to ${verb}: ${estimate}.`);
  const about = listFirst(entries.map(entryName), mostNamedEntries);
  await confirmAction(
    app,
    {
      question: `${verb === "delete" ? "Delete" : "Detach"} ${what}?`,
      about,
      reason: `${verb === "delete" ? "deleting" : "detaching"} ${what} (${about}) needs a confirmation`,
      left: `nothing was ${done}`,
    },
    pause,
  );
}
