import { questionFor, shortened } from "../../contract/did-you-mean.ts";
import {
  allAngleShots,
  type GenerationKind,
  isListed,
  listBackgrounds,
  toTaskType,
} from "../../contract/generation-rules.ts";
import type { Model } from "../../contract/resources/tasks.ts";
import { beautifierStyles, taskSubtypes } from "../../contract/value-sets.ts";
import { CatError } from "../../errors.ts";
import { type Coverage, lacks, type WantedLook } from "../../flows/catalogue/coverage.ts";
import { modelsNamed } from "../../flows/catalogue/lookups.ts";
import { findSelection, unknownInFile, unknownProblem } from "../../flows/export/selection/selection.ts";
import { requiredFields, splitValues } from "../../flows/generate/columns/read-row.ts";
import { meantValues } from "../../flows/generate/columns/vocabulary.ts";
import { plainCsv } from "../../flows/outputs/cells.ts";
import { counted, series } from "../../flows/words.ts";
import { shellWord } from "../../shell-word.ts";
import type { App } from "../app/app.ts";
import { defaultConcurrency, runFlow } from "../app/run-flow.ts";
import { learnedLooks } from "../completion/learned-values.ts";
import { UsageError } from "../context/errors.ts";
import { checkOutFile, writeOutFile } from "../files/out-files.ts";
import { either } from "../flags/usage-error.ts";
import { readProductsFile } from "../mapping/products-file.ts";
import { problemList } from "../output/problem-list.ts";
import { excelStyle } from "../settings/csv-style.ts";
import type { CoverageFlags, LooksFlags } from "./coverage-flags.ts";
import { type LookCells, sheetOfLooks } from "./template.ts";

interface LooksSheet {
  write(coverages: AsyncIterable<Coverage>, models: readonly Model[]): Promise<void>;
  /** A sentence for each value that neither this program nor an image has, so that all products lack it. */
  unknown(): Promise<string[]>;
}

/** Checks before any request that the sheet can be written. Throws UsageError. */
export async function openLooks(
  app: App,
  flags: LooksFlags,
  excel: boolean | undefined,
): Promise<LooksSheet> {
  const { out, format, kind } = flags;
  checkListed("--subtype", flags.subtype, taskSubtypes);
  checkListed("--style", flags.style, beautifierStyles);
  const hints = { flag: "--looks", example: "looks.xlsx", left: "nothing was written" };
  const file = await checkOutFile(app, out, hints);
  const style = (await excelStyle(app, excel)) ?? plainCsv;
  return {
    unknown: () => unknownValues(app, flags),
    async write(coverages, models) {
      const wanted = combinations(flags, models);
      const rows: LookCells[] = [];
      const products = new Set<string>();
      for await (const coverage of coverages) {
        const { id, reference } = coverage.product;
        const product = reference === null ? { product_id: id } : { product_reference: reference };
        for (const { look, cells } of wanted) {
          if (!lacks(look, coverage, toTaskType(kind))) continue;
          rows.push({ ...product, ...cells });
          products.add(id);
        }
      }
      await writeOutFile(app, file, await sheetOfLooks(kind, rows, { format, style }));
      const written = { file: out, kind, products: products.size, looks: rows.length };
      if (app.io.json) await app.io.jsonData(written);
      else await app.io.note(app.io.visible(app.io.asCalled(summaryOf(written, flags))));
    },
  };
}

/** Rejects a value that no row may have. Throws UsageError. */
function checkListed(param: string, typed: readonly string[], listed: readonly string[]): void {
  const wrong = typed.flatMap(splitValues).find((value) => !listed.includes(value));
  if (wrong === undefined) return;
  const message = `invalid ${param} ${JSON.stringify(wrong)}: use ${either(listed)}`;
  throw new UsageError(message, { param, hint: "See: cat products coverage --help" });
}

const flagOfField = {
  model_id: "model",
  subtype: "subtype",
  background: "background",
  angle_shot: "angle",
} as const;

async function unknownValues(app: App, flags: LooksFlags): Promise<string[]> {
  const { kind } = flags;
  const learned = await learnedLooks(app, kind);
  const listed = { background: listBackgrounds(kind), angle_shot: allAngleShots(kind) };
  return (["background", "angle_shot"] as const).flatMap((field) => {
    const isUnknown = (value: string) => !isListed(kind, field, value) && !learned[field].includes(value);
    const known = [...listed[field], ...learned[field]];
    return eachOnce(flags[flagOfField[field]])
      .filter(isUnknown)
      .map((value) => {
        const near = questionFor(meantValues(field, value, known), ": ", (word) => JSON.stringify(word));
        return `--${flagOfField[field]} ${shortened(value)} is not a known value${near || `; known: ${known.join(", ")}`}`;
      });
  });
}

function summaryOf(
  { file, kind, products, looks }: { file: string; kind: GenerationKind; products: number; looks: number },
  flags: LooksFlags,
): string {
  if (looks === 0) return `No image is missing: ${file} has a header only.`;
  const empty = requiredFields[kind].filter((field) => flags[flagOfField[field]].length === 0);
  const next = empty.length === 0 ? "To generate them" : `Fill in ${series(empty, "and")}`;
  const run = `${next}, ${empty.length === 0 ? "" : "then "}run: cat ${kind} ${shellWord(file)}`;
  return `Wrote ${counted(looks, "missing image")} of ${counted(products, "product")} to ${file}. ${run}`;
}

/** Every combination without values that the user fills in, and the look of its image. */
function combinations(flags: LooksFlags, models: readonly Model[]): { look: WantedLook; cells: LookCells }[] {
  const people = new Map(
    eachOnce(flags.model).map((wanted) => {
      const { id, name } = modelNamed(wanted, models);
      return [name, id];
    }),
  );
  let rows: LookCells[] = [{}];
  const values = {
    model_id: [...people.keys()],
    subtype: eachOnce(flags.subtype),
    background: eachOnce(flags.background),
    angle_shot: eachOnce(flags.angle),
    style: eachOnce(flags.style),
  };
  for (const [field, some] of Object.entries(values))
    if (some.length > 0) rows = rows.flatMap((row) => some.map((value) => ({ ...row, [field]: value })));
  // Exports do not tell subtype and style of an image.
  return rows.map((cells) => ({
    cells,
    look: {
      modelId: people.get(cells.model_id ?? "") ?? null,
      background: cells.background ?? null,
      angleShot: cells.angle_shot ?? null,
    },
  }));
}

/** The values of a flag, which may have several: two spellings would be the same image. */
const eachOnce = (typed: readonly string[]): string[] => [
  ...new Map(typed.flatMap(splitValues).map((value) => [value.toLowerCase(), value])).values(),
];

/** A model, by the name that finds it, else by its ID. Throws CatError. */
function modelNamed(wanted: string, models: readonly Model[]): { id: string; name: string } {
  const found = modelsNamed(wanted, models);
  const [model] = found;
  if (model === undefined || found.length > 1) {
    const ids = found.map(({ id }) => id).join(", ");
    throw new CatError(
      model === undefined
        ? `no model ${JSON.stringify(wanted)}`
        : `${found.length} models are named ${JSON.stringify(wanted)}`,
      {
        type: "not_found",
        code: model === undefined ? "model_not_found" : "model_ambiguous",
        param: "--model",
        hint: model === undefined ? "To see all models: cat models list" : `Use an ID (${ids}).`,
      },
    );
  }
  const { id, name } = model;
  const isFound = name !== null && modelsNamed(name, models).length === 1 && name === name.trim();
  return { id, name: isFound ? name : id };
}

/** The IDs of the products of a file, without those that exports do not have. Throws InputError. */
export async function productsOfFile(
  app: App,
  { name, ...flags }: NonNullable<CoverageFlags["file"]>,
): Promise<readonly string[]> {
  const left = "nothing was listed";
  const selection = await readProductsFile(app, name, flags, { noun: "list", left });
  const { found, unknown } = await runFlow(app, async (host) =>
    findSelection(
      selection,
      { ...host, client: await host.client(), concurrency: defaultConcurrency },
      (done, total) => host.onProgress({ step: "looking up products", done, total }),
    ),
  );
  if (unknown.length > 0) {
    const list = problemList(app, name, { listsAll: "--json" });
    for (const problem of unknown.map(unknownProblem)) await list.add(problem);
    const [total, invalid] = [selection.wanted.length, unknown.length];
    await list.end({ total, valid: total - invalid, invalid, unusable: false });
    throw unknownInFile(name, invalid, total, left);
  }
  return [...new Set(found.flatMap(({ product }) => (product.reference === null ? [] : product.id)))];
}
