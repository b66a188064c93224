import { operations } from "../../contract/client-operations.ts";
import { limits } from "../../contract/limits.ts";
import type { Model } from "../../contract/resources/tasks.ts";
import { type Coverage, type Look, readCoverage } from "../../flows/catalogue/coverage.ts";
import { allModels } from "../../flows/catalogue/lookups.ts";
import { knownImages } from "../../flows/generate/missing.ts";
import { mayNotRead } from "../../flows/service-errors.ts";
import { counted, grouped, series } from "../../flows/words.ts";
import type { App } from "../app/app.ts";
import { memoryOfProfile } from "../app/profile-state.ts";
import { LearnedValues } from "../completion/learned-values.ts";
import { type RawPrintFlags, readPrintFlags } from "../flags/print-flags.ts";
import type { Column } from "../output/table.ts";
import { namedForm } from "../resources/forms.ts";
import type { CoverageFlags } from "./coverage-flags.ts";
import { openLooks, productsOfFile } from "./coverage-looks.ts";

/** A product with what exists of it, as JSON has it. Fields have the names of the service. */
interface CoverageRow {
  readonly reference: string | null;
  readonly name: string | null;
  readonly photos: readonly string[];
  readonly beautified: readonly { background: string; angle_shot: string }[];
  readonly tryons: readonly TryonLook[];
  /** How many generated images a review has rejected; they count nowhere else. */
  readonly rejected: number;
  readonly id: string;
}

interface TryonLook {
  readonly model_id: string;
  /** Null for a model without a name, or that no longer exists. */
  readonly model_name: string | null;
  readonly background: string;
  readonly angle_shot: string;
}

/** Lists of a product as a cell: as in an import file, or for people: the number first. */
const listColumns = (name: string, list: (row: CoverageRow) => readonly string[]): Column<CoverageRow>[] => [
  { name, value: (row) => list(row).join("|"), only: "csv" },
  { name, value: (row) => numbered(list(row)), only: "table" },
];

const numbered = (list: readonly string[]): string =>
  list.length > 1 ? `${list.length}: ${list.join(", ")}` : list.join();

const columns: readonly Column<CoverageRow>[] = [
  { name: "reference", value: ({ reference }) => reference },
  { name: "name", value: ({ name }) => name },
  ...listColumns("photos", ({ photos }) => photos),
  ...listColumns("beautified", ({ beautified }) =>
    beautified.map(({ background, angle_shot }) => `${background}/${angle_shot}`),
  ),
  ...listColumns("tryons", ({ tryons }) =>
    tryons.map(
      ({ model_id, model_name, background, angle_shot }) =>
        `${model_name ?? model_id}/${background}/${angle_shot}`,
    ),
  ),
  { name: "rejected", value: ({ rejected }) => rejected },
  { name: "id", value: ({ id }) => id, only: "csv" },
];

const noImages: Readonly<Record<CoverageFlags["without"][number], string>> = {
  beautifier: "a beautified shot",
  tryon: "a try-on",
};

/** Prints what exists of products created through the API, or a sheet of what does not. */
export async function printCoverage(
  app: App,
  { file, q, without, looks }: CoverageFlags,
  flags: RawPrintFlags,
): Promise<void> {
  const form = namedForm(columns, ["reference", "name", "photos", "beautified", "tryons", "rejected", "id"]);
  const printing = readPrintFlags(flags, form);
  const { interrupt: signal, stdout } = app.context;
  const sheet = looks === null ? null : await openLooks(app, looks, flags.excel);
  const products = await selectedProducts(app, file, q);
  const client = await app.client();
  const known = knownImages(await memoryOfProfile(app));
  const models = await readModels({ client, signal }, sheet !== null);
  const names = new Map(models.flatMap(({ id, name }) => (name === null ? [] : [[id, name] as const])));
  // Rows on a terminal show the progress themselves, except for a table, which is drawn at the end.
  const isQuiet =
    looks === null &&
    printing.out === undefined &&
    stdout.isTTY &&
    printing.format !== undefined &&
    printing.format !== "table";
  const progress = isQuiet ? null : await app.io.progress();
  const learned = new LearnedValues();
  let [read, shown, bare] = [0, 0, 0];
  async function* selected() {
    for await (const coverage of readCoverage(products, null, known, { client, signal })) {
      progress?.update({ step: "reading products", done: ++read, total: null });
      const { tryons, beautified } = coverage;
      learned.addLooks("tryon", tryons);
      learned.addLooks("beautify", beautified);
      if (tryons.length + beautified.length === 0) bare++;
      if (without.some((kind) => (kind === "tryon" ? tryons : beautified).length > 0)) continue;
      shown++;
      yield coverage;
    }
    progress?.end();
  }
  async function* rows() {
    for await (const coverage of selected()) yield toRow(coverage, names);
  }
  try {
    if (sheet === null) await app.io.show(printing, rows());
    else await sheet.write(selected(), models);
  } finally {
    progress?.end();
  }
  await learned.keep(app);
  for (const sentence of (await sheet?.unknown()) ?? []) await app.io.note(app.io.visible(sentence));
  if (read === 0) await app.io.note(products === null ? "No products yet." : "No products found.");
  else if (without.length > 0) {
    const kinds = without.map((kind) => noImages[kind]);
    await app.io.note(`${grouped(shown)} of ${counted(read, "product")} without ${series(kinds, "or")}.`);
  } else if (bare > 0 && sheet === null)
    await app.io.note(`${counted(bare, "product")} without a generated image.`);
}

/** The IDs of the products of a file, and of those that a search finds; null for all. Throws InputError. */
async function selectedProducts(
  app: App,
  file: CoverageFlags["file"],
  q: string | undefined,
): Promise<readonly string[] | null> {
  const ofFile = file === null ? null : await productsOfFile(app, file);
  if (q === undefined) return ofFile;
  const client = await app.client();
  const wanted = ofFile === null ? null : new Set(ofFile);
  const found: string[] = [];
  const query = { q, limit: limits.page.max };
  for await (const product of client.paginate(operations.products.list, query, {
    signal: app.context.interrupt,
  }))
    if (product.reference !== null && (wanted === null || wanted.has(product.id))) found.push(product.id);
  return found;
}

function toRow(
  { product, photos, beautified, tryons, rejected }: Coverage,
  names: ReadonlyMap<string, string>,
): CoverageRow {
  const scene = ({ background, angleShot }: Look) => ({ background, angle_shot: angleShot });
  return {
    reference: product.reference,
    name: product.name,
    photos,
    beautified: beautified.map(scene),
    tryons: tryons.map((look) => {
      const model_id = look.modelId!;
      return { model_id, model_name: names.get(model_id) ?? null, ...scene(look) };
    }),
    rejected,
    id: product.id,
  };
}

/** The models; none if the key cannot read them, unless they are needed. */
async function readModels(service: Parameters<typeof allModels>[0], isNeeded: boolean): Promise<Model[]> {
  try {
    return await allModels(service);
  } catch (error) {
    if (!isNeeded && mayNotRead(error)) return [];
    throw error;
  }
}
