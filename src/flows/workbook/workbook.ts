// The sheets of an .xlsx workbook and what all of them share.

import { addText } from "./cell.ts";
import { builtInFormat, type NumberFormat, parseFormat } from "./formats.ts";
import { shownCount, workbookLimits } from "./limits.ts";
import { damagedWorkbook, type Package, WorkbookError } from "./package.ts";
import { TextList } from "./text-list.ts";
import { type Attributes, readXml, type XmlHandler } from "./xml.ts";

export interface Sheet {
  readonly name: string;
  readonly isHidden: boolean;
  readonly part: string;
}

export interface Workbook {
  readonly pack: Package;
  /** Sheets with cells: charts and macros have none. */
  readonly sheets: readonly Sheet[];
  /** Whether days count from 1904, as early versions for the Mac did. */
  readonly isFrom1904: boolean;
  /** Whether the values of formulas are only placeholders, to be computed when the file is opened. */
  readonly hasStaleFormulas: boolean;
  readonly formats: readonly NumberFormat[];
  /** The texts that cells name; closed with the workbook. */
  readonly sharedStrings: TextList;
}

export interface Relation {
  /** The last part of its type, such as `hyperlink`. */
  readonly type: string;
  /** The path of a part, or the URL of an external target. */
  readonly target: string;
}

/** Throws WorkbookError for more sheets than are read. */
export function rejectTooManySheets(name: string, count: number): void {
  if (count > workbookLimits.sheets)
    throw damagedWorkbook(name, `it has more than ${shownCount(workbookLimits.sheets)} sheets`);
}

/** Reads everything but the sheets' rows. Throws WorkbookError. */
export async function readWorkbook(pack: Package): Promise<Workbook> {
  const root = await readRelations(pack, "");
  const part = [...root.values()].find(({ type }) => type === "officeDocument")?.target ?? "xl/workbook.xml";
  const relations = await readRelations(pack, part);
  const named: { name: string; isHidden: boolean; id: string }[] = [];
  let isFrom1904 = false;
  let hasStaleFormulas = false;
  await readXml(pack, part, workbookLimits.otherBytes, {
    open(name, attributes) {
      if (name === "workbookPr") isFrom1904 = isTrue(attributes.date1904);
      if (name === "calcPr") hasStaleFormulas = isTrue(attributes.fullCalcOnLoad);
      if (name === "sheet")
        named.push({
          name: attributes.name ?? "",
          isHidden: /hidden/i.test(attributes.state ?? ""),
          id: prefixed(attributes, "id") ?? "",
        });
    },
  });
  const target = (type: string) => [...relations.values()].find((relation) => relation.type === type)?.target;
  const sheets = named.flatMap(({ name, isHidden, id }) => {
    const relation = relations.get(id);
    if (relation === undefined)
      throw damagedWorkbook(pack.name, `the sheet ${JSON.stringify(name)} is missing`);
    return relation.type === "worksheet" ? [{ name, isHidden, part: relation.target }] : [];
  });
  rejectTooManySheets(pack.name, sheets.length);
  for (const [at, { name, part }] of sheets.entries()) {
    const same = sheets.slice(0, at).find((sheet) => sheet.part === part);
    if (same !== undefined)
      throw damagedWorkbook(
        pack.name,
        `the sheets ${JSON.stringify(same.name)} and ${JSON.stringify(name)} are one part`,
      );
  }
  if (sheets.length === 0)
    throw new WorkbookError("no_sheet", `${pack.name} has no sheet with cells`, "Choose another file.");
  return {
    pack,
    sheets,
    isFrom1904,
    hasStaleFormulas,
    formats: await readFormats(pack, target("styles")),
    sharedStrings: await readSharedStrings(pack, target("sharedStrings")),
  };
}

/** The value of an attribute with any prefix, such as `r:id`. */
export function prefixed(attributes: Attributes, name: string): string | undefined {
  const key = Object.keys(attributes).find((key) => key.endsWith(`:${name}`));
  return key === undefined ? undefined : attributes[key];
}

export const isTrue = (value: string | undefined): boolean => value === "1" || value === "true";

/** The relations of a part, by ID; those of the package itself for an empty path. */
export async function readRelations(pack: Package, part: string): Promise<Map<string, Relation>> {
  const slash = part.lastIndexOf("/") + 1;
  const path = `${part.slice(0, slash)}_rels/${part.slice(slash)}.rels`;
  const relations = new Map<string, Relation>();
  if (!pack.has(path)) return relations;
  await readXml(pack, path, workbookLimits.otherBytes, {
    open(name, { Id = "", Type = "", Target = "", TargetMode }) {
      if (name !== "Relationship") return;
      const type = Type.slice(Type.lastIndexOf("/") + 1);
      const target = TargetMode === "External" ? Target : resolvePart(part, Target);
      relations.set(Id, { type, target });
    },
  });
  return relations;
}

/** The path of a target that a part names relative to itself, or from the root. */
function resolvePart(part: string, target: string): string {
  const path = new URL(target.replaceAll("\\", "/"), `part:///${part}`).pathname;
  return decodeURIComponent(path).replace(/^\/+/, "");
}

/** The formats of cells: an index into `cellXfs`, each of which names a format by its number. */
async function readFormats(pack: Package, part: string | undefined): Promise<NumberFormat[]> {
  if (part === undefined || !pack.has(part)) return [];
  const own = new Map<number, NumberFormat>();
  const ids: number[] = [];
  await readXml(pack, part, workbookLimits.otherBytes, {
    open(name, attributes, parent) {
      if (name === "numFmt" && parent === "numFmts")
        own.set(Number(attributes.numFmtId), parseFormat(attributes.formatCode ?? ""));
      if (name === "xf" && parent === "cellXfs") ids.push(Number(attributes.numFmtId ?? 0));
    },
  });
  return ids.map((id) => own.get(id) ?? builtInFormat(id));
}

async function readSharedStrings(pack: Package, part: string | undefined): Promise<TextList> {
  const strings = new TextList();
  if (part === undefined || !pack.has(part)) return strings;
  const text = new TextCollector();
  const counts = { values: 0, characters: 0 };
  const handler: XmlHandler = {
    found: counts,
    open(name) {
      if (name === "si") text.start();
      else text.open(name);
    },
    close(name) {
      text.close(name);
      if (name !== "si") return;
      strings.add(text.raw);
      if (text.raw !== "") counts.values++;
      counts.characters += text.raw.length;
      if (strings.length > workbookLimits.sharedTexts)
        throw damagedWorkbook(
          pack.name,
          `${part} has more than ${shownCount(workbookLimits.sharedTexts)} texts`,
        );
    },
    text: (value) => text.add(value),
  };
  try {
    await readXml(pack, part, workbookLimits.sharedTextBytes, handler);
    strings.complete();
    return strings;
  } catch (error) {
    strings.close();
    throw error;
  }
}

/** Collects the text of a string in several formats, without its pronunciation (`rPh`). */
export class TextCollector {
  #parts = "";
  #isText = false;
  #isPronunciation = false;

  start(): void {
    this.#parts = "";
    this.#isText = false;
    this.#isPronunciation = false;
  }

  open(name: string): void {
    if (name === "rPh") this.#isPronunciation = true;
    if (name === "t") this.#isText = !this.#isPronunciation;
  }

  close(name: string): void {
    if (name === "rPh") this.#isPronunciation = false;
    if (name === "t") this.#isText = false;
  }

  add(text: string): void {
    if (this.#isText) this.#parts = addText(this.#parts, text);
  }

  /** The text as it is written, also with `_x000D_`. */
  get raw(): string {
    return this.#parts;
  }
}

/** A text with each `_xHHHH_` as the character that it stands for (ECMA-376, part 1, 22.9.2.19). */
export const unescapeText = (text: string): string =>
  text.includes("_x")
    ? text.replace(/_x([0-9A-Fa-f]{4})_/g, (_, code) => String.fromCharCode(Number.parseInt(code, 16)))
    : text;
