import { type Coverage, type Look, readCoverage } from "../../flows/catalogue/coverage.ts";
import { allModels } from "../../flows/catalogue/lookups.ts";
import { knownImages } from "../../flows/generate/missing.ts";
import { mayNotRead } from "../../flows/service-errors.ts";
import { counted } from "../../flows/words.ts";
import type { App } from "../app/app.ts";
import { memoryOfProfile } from "../app/profile-state.ts";
import { type RawPrintFlags, readPrintFlags } from "../flags/print-flags.ts";
import type { Column } from "../output/table.ts";
import { namedForm } from "../resources/forms.ts";

/** A product with what exists of it, as JSON has it. Fields have the names of the service. */
interface CoverageRow {
  readonly reference: string | null;
  readonly name: string | null;
  /** The orientations of the photos. */
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

/** Lists for a product as one cell: separated as in an import file, or for people, whose terminal may cut it: the number first. */
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

/** Prints what exists of each product that was created through the API. */
export async function printCoverage(app: App, flags: RawPrintFlags): Promise<void> {
  const form = namedForm(columns, ["reference", "name", "photos", "beautified", "tryons", "rejected", "id"]);
  const printing = readPrintFlags(flags, form);
  const { interrupt: signal, stdout } = app.context;
  const client = await app.client();
  const known = knownImages(await memoryOfProfile(app));
  const names = await modelNames({ client, signal });
  // Rows on a terminal show the progress themselves, except for a table, which is drawn at the end.
  const isQuiet = stdout.isTTY && printing.format !== undefined && printing.format !== "table";
  const progress = isQuiet ? null : await app.io.progress();
  let [products, bare] = [0, 0];
  async function* rows() {
    for await (const coverage of readCoverage(null, null, known, { client, signal })) {
      progress?.update({ step: "reading products", done: ++products, total: null });
      if (coverage.tryons.length + coverage.beautified.length === 0) bare++;
      yield toRow(coverage, names);
    }
    progress?.end();
  }
  let count: number;
  try {
    count = await app.io.show(printing, rows());
  } finally {
    progress?.end();
  }
  if (count === 0) await app.io.note("No products yet.");
  else if (bare > 0) await app.io.note(`${counted(bare, "product")} without a generated image.`);
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

/** The names of models by ID; none if the key cannot read models. */
async function modelNames(service: Parameters<typeof allModels>[0]): Promise<ReadonlyMap<string, string>> {
  try {
    const models = await allModels(service);
    return new Map(models.flatMap(({ id, name }) => (name === null ? [] : [[id, name] as const])));
  } catch (error) {
    if (mayNotRead(error)) return new Map();
    throw error;
  }
}
