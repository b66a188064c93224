import type { Readable } from "node:stream";
import {
  allAngleShots,
  type GenerationKind,
  listAngleShots,
  listBackgrounds,
} from "../../contract/generation-rules.ts";
import { beautifierStyles, sexes, taskSubtypes } from "../../contract/value-sets.ts";
import { requiredFields } from "../../flows/generate/columns/read-row.ts";
import type { Field } from "../../flows/generate/columns/vocabulary.ts";
import { byteOrderMark, type CsvStyle, csvRecords, plainCsv } from "../../flows/outputs/cells.ts";
import { guardedCell } from "../../flows/outputs/formulas.ts";
import type { SheetToWrite } from "../../flows/workbook/write-workbook.ts";
import { shellWord } from "../../shell-word.ts";
import type { App } from "../app/app.ts";
import { UsageError } from "../context/errors.ts";
import type { RawFileFlags } from "../files/file-flags.ts";
import { checkOutFile, writeOutFile } from "../files/out-files.ts";
import type { SheetFormat } from "../flags/common-flags.ts";
import { outputFormat } from "../output/output-names.ts";
import { jsonLine } from "../output/visible.ts";
import { excelStyle } from "../settings/csv-style.ts";

interface TemplateColumn {
  readonly name: string;
  /** At most 255 characters, which spreadsheets show. */
  readonly note: string;
  readonly example: string;
  readonly choices?: readonly string[];
  readonly isOpen?: boolean;
}

type TemplateKind = "import" | GenerationKind;

/** The name of the sheet, the default name of the file without its end, and the columns. */
interface Template {
  readonly sheet: string;
  readonly stem: string;
  readonly columns: readonly TemplateColumn[];
}

const photoNote = "An https:// URL, an image ID, or the path of a photo.";

const looks = (kind: GenerationKind, angle: string): TemplateColumn[] => [
  {
    name: "background",
    note: "A background of the list, or a color such as #f4f1ea. Required.",
    example: "white",
    choices: listBackgrounds(kind),
    isOpen: true,
  },
  {
    name: "angle_shot",
    note:
      kind === "tryon"
        ? "An angle of the list, or a custom one of your organization. Required."
        : `Required. ${taskSubtypes.map((subtype) => `${subtype}: ${listAngleShots(kind, subtype).join(", ")}.`).join(" ")}`,
    example: angle,
    choices: allAngleShots(kind),
    isOpen: true,
  },
];

const product: TemplateColumn = {
  name: "product_reference",
  note: "The reference of a product in your catalogue. Required.",
  // A demo product of the mock service.
  example: "DRESS-0001",
};

const photo = (side: string, example = ""): TemplateColumn => ({
  name: `image_${side}`,
  note: `The ${side} photo. ${photoNote}`,
  example,
});

const templates: Readonly<Record<TemplateKind, Template>> = {
  import: {
    sheet: "Products",
    stem: "products",
    columns: [
      {
        name: "reference",
        note: "Your own code (SKU), up to 100 characters. Required.",
        example: "EXAMPLE-1",
      },
      { name: "name", note: "The name, up to 200 characters. Required.", example: "Linen dress" },
      {
        name: "description",
        note: "Up to 2,000 characters.",
        example: "A light dress in washed linen",
      },
      { name: "sex", note: "Who wears it.", example: "female", choices: sexes },
      photo("front", "https://cdn.example.com/example-1-front.jpg"),
      photo("back", "https://cdn.example.com/example-1-back.jpg"),
      photo("side"),
      photo("detail"),
      {
        name: "images",
        note: `More photos, separated by |. A product needs 1 to 20 photos. Each is ${photoNote[0]!.toLowerCase()}${photoNote.slice(1)}`,
        example: "",
      },
    ],
  },
  tryon: {
    sheet: "Looks",
    stem: "looks",
    columns: [
      product,
      { name: "model_id", note: "The ID or the name of a model. Required.", example: "mdl_001" },
      ...looks("tryon", "full-front"),
      {
        name: "styling_product_ids",
        note: "IDs or references of up to 10 products to style it with, separated by |.",
        example: "",
      },
      {
        name: "look_at_camera",
        note: "Whether the model faces the camera (true or false).",
        example: "true",
        choices: ["true", "false"],
      },
    ],
  },
  beautify: {
    sheet: "Shots",
    stem: "shots",
    columns: [
      product,
      { name: "subtype", note: "The kind of product. Required.", example: "clothing", choices: taskSubtypes },
      ...looks("beautify", "front"),
      { name: "style", note: "For clothing only.", example: "ghost", choices: beautifierStyles },
    ],
  },
};

/**
 * A sheet to begin with: a header and an example row that the command accepts; a workbook has lists of
 * choices and notes too. `given`: its name as typed; true for the default one. Throws UsageError.
 */
export async function writeTemplate(
  app: App,
  kind: TemplateKind,
  given: string | true,
  flags: RawFileFlags,
): Promise<void> {
  const { sheet, stem, columns } = templates[kind];
  const format = toFormat(app, given, flags.format, stem);
  const name = given === true ? `${stem}.${format}` : given;
  const header = columns.map((column) => column.name);
  const example = columns.map((column) => column.example);
  let content: AsyncIterable<Uint8Array> | readonly string[];
  if (format === "xlsx") content = await createWorkbook(sheet, columns, [example]);
  else {
    const style = (await excelStyle(app, flags.excel)) ?? plainCsv;
    content = [byteOrderMark(style) + csvRecords([header, example], style)];
  }
  if (name === "-") {
    for await (const piece of content) await app.io.data(piece);
    return;
  }
  const hints = { flag: "--template", example: `${stem}.xlsx`, left: "nothing was written", hasStdout: true };
  const file = await checkOutFile(app, name, hints);
  await writeOutFile(app, file, content);
  if (app.io.json) return app.io.jsonData({ file: name, columns: header });
  const check = app.io.asCalled(`cat ${kind} ${shellWord(name)} --dry-run`);
  await app.io.note(
    app.io.visible(`Wrote ${name} with an example row. Replace it with your rows, then run: ${check}`),
  );
}

const templateFormats = ["xlsx", "csv"] as const;

/** The format of the name, of `--format`, or a workbook. Throws UsageError for what no template has. */
function toFormat(
  { context: { stdout }, io }: App,
  given: string | true,
  format: RawFileFlags["format"],
  stem: string,
): "xlsx" | "csv" {
  const hint = `Choose a file, for example --template ${stem}.xlsx or --template ${stem}.csv.`;
  const invalid = (what: string) => new UsageError(what, { param: "--template", hint });
  if (given === "") throw invalid("--template is empty");
  const name = given === true ? "-" : given;
  const ofFlag = templateFormats.find((one) => one === format);
  const wanted = outputFormat("--template", name, templateFormats, ofFlag);
  const shown = given === true ? "" : ` ${io.visible(given)}`;
  if (format !== ofFlag || (name !== "-" && !/\.(?:xlsx|csv)$/i.test(name)))
    throw invalid(`cannot write --template${shown}: a template is an .xlsx or a .csv file`);
  if (given === "-" && wanted === "xlsx" && stdout.isTTY)
    throw invalid("cannot write a workbook to the terminal");
  return wanted;
}

/** The fields of a row of looks, by the names of the service. */
export type LookCells = Readonly<Partial<Record<Field, string>>>;

/** A sheet of looks that the command reads, with the columns that have a value and those that it requires. */
export async function sheetOfLooks(
  kind: GenerationKind,
  rows: readonly LookCells[],
  { format, style }: { format: SheetFormat; style: CsvStyle },
): Promise<AsyncIterable<Uint8Array> | Iterable<string>> {
  if (format === "ndjson") return rows.map(jsonLine);
  const { sheet, columns } = templates[kind];
  const required: readonly string[] = ["product_reference", ...requiredFields[kind]];
  const used = [{ ...product, name: "product_id" }, ...columns].filter(
    ({ name }) => required.includes(name) || rows.some((row) => row[name as Field] !== undefined),
  );
  const records = rows.map((row) => used.map(({ name }) => row[name as Field] ?? ""));
  if (format === "xlsx")
    // As in a CSV file, the command takes the apostrophe of a guarded formula away.
    return createWorkbook(
      sheet,
      used,
      records.map((cells) => cells.map(guardedCell)),
    );
  return [byteOrderMark(style) + csvRecords([used.map(({ name }) => name), ...records], style)];
}

async function createWorkbook(
  name: string,
  columns: readonly TemplateColumn[],
  records: readonly (readonly string[])[],
): Promise<Readable> {
  const { writeWorkbook } = await import("../../flows/workbook/write-workbook.ts");
  const sheet: SheetToWrite = {
    name,
    header: columns.map((column) => column.name),
    widths: columns.map((column) =>
      Math.max(14, Math.min(48, column.example.length), column.name.length + 2),
    ),
    rows: records.map((texts) => ({ texts })),
    notes: columns.map(({ note }) => note),
    choices: columns.flatMap(({ choices, isOpen = false }, column) =>
      choices === undefined ? [] : [{ column, values: choices, isOpen }],
    ),
  };
  return writeWorkbook(sheet);
}
