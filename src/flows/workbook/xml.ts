// Reading the XML of a workbook in flat memory.

import { SaxesParser } from "saxes";
import { CatError } from "../../errors.ts";
import { TooMuchText } from "./cell.ts";
import { shownSize, workbookLimits } from "./limits.ts";
import { damagedWorkbook, type Package, WorkbookError } from "./package.ts";

export type Attributes = Readonly<Record<string, string>>;

/** Cells and texts that are not empty, and their characters. */
export interface XmlCounts {
  values: number;
  characters: number;
}

export interface XmlHandler {
  /** Names of the root's namespace without prefix (default), others left out; or with all prefixes. */
  readonly names?: "local" | "full";
  open(name: string, attributes: Attributes, parent: string | undefined): void;
  close?(name: string): void;
  text?(text: string): void;
  /** Found since it was last looked at and set to 0. */
  readonly found?: XmlCounts;
}

/**
 * Passes elements to the handler; yields per chunk, so that the caller can take what was collected. Throws
 * WorkbookError for XML that is not well-formed, too deep, or has a DOCTYPE.
 */
export async function* walkXml(
  pack: Package,
  part: string,
  limit: number,
  handler: XmlHandler,
): AsyncGenerator<void> {
  const reject = (why: string, cause?: unknown) => damagedWorkbook(pack.name, `${part} ${why}`, cause);
  let silence = 0;
  const parser = openParser(handler, reject, () => {
    silence = 0;
  });
  let decoder: InstanceType<typeof TextDecoder> | undefined;
  try {
    for await (const chunk of pack.read(part, limit)) {
      decoder ??= new TextDecoder(encodingName(chunk), { fatal: true });
      const piece = decoder.decode(chunk, { stream: true });
      silence += piece.length;
      parser.write(piece);
      if (silence > workbookLimits.silence)
        throw reject(`has more than ${shownSize(workbookLimits.silence)} of text in one place`);
      countMarkup(pack, piece.length, handler.found);
      yield;
    }
    parser.write(decoder?.decode() ?? "");
    parser.close();
  } catch (error) {
    if (error instanceof TooMuchText) throw reject(error.message);
    // A disk that fails is not a damaged workbook.
    const isOfFiles = (error as NodeJS.ErrnoException).syscall !== undefined;
    throw error instanceof CatError || isOfFiles ? error : reject("is not valid XML", error);
  }
  yield;
}

/** A parser that passes elements to the handler, and calls `onElement` for each. */
function openParser(
  handler: XmlHandler,
  reject: (why: string, cause?: unknown) => CatError,
  onElement: () => void,
): SaxesParser<{ xmlns: false }> {
  const parser = new SaxesParser({ xmlns: false });
  const names: (string | null)[] = [];
  let prefixes: Set<string> | undefined;
  /** The name without its prefix; null for another namespace than the root's, as `x15:workbookPr`. */
  const localName = (name: string, attributes: Attributes): string | null => {
    if (handler.names === "full") return name;
    const colon = name.indexOf(":");
    const prefix = name.slice(0, colon + 1);
    prefixes ??= listPrefixes(prefix, attributes);
    return prefixes.has(prefix) ? name.slice(colon + 1) : null;
  };
  parser.on("doctype", () => {
    throw reject("has a DOCTYPE");
  });
  parser.on("error", (error) => {
    throw reject("is not valid XML", error);
  });
  parser.on("opentag", ({ name, attributes }) => {
    onElement();
    const local = localName(name, attributes);
    if (names.length >= workbookLimits.depth)
      throw reject(`has elements within ${workbookLimits.depth} others`);
    if (local !== null) handler.open(local, attributes, names.at(-1) ?? undefined);
    names.push(local);
  });
  parser.on("closetag", () => {
    onElement();
    const local = names.pop();
    if (local != null) handler.close?.(local);
  });
  const text = (value: string) => {
    onElement();
    handler.text?.(value);
  };
  parser.on("text", text);
  parser.on("cdata", text);
  return parser;
}

export async function readXml(
  pack: Package,
  part: string,
  limit: number,
  handler: XmlHandler,
): Promise<void> {
  for await (const _ of walkXml(pack, part, limit, handler));
}

function countMarkup(pack: Package, length: number, counts: XmlCounts = { values: 0, characters: 0 }): void {
  pack.markup = Math.max(
    0,
    pack.markup + length - counts.characters - counts.values * workbookLimits.markupOfValue,
  );
  counts.values = 0;
  counts.characters = 0;
  if (pack.markup > workbookLimits.markup)
    throw new WorkbookError(
      "damaged_workbook",
      `${pack.name} cannot be read as a workbook: it has more than ${shownSize(workbookLimits.markup)} without a value`,
      "Paste the cells as values into a new workbook, save it, and use that.",
    );
}

/** The prefixes of the root for its own namespace, each with its colon; `prefix`: that of the root. */
function listPrefixes(prefix: string, attributes: Attributes): Set<string> {
  const own = attributes[`xmlns:${prefix}`.slice(0, -1)];
  const alike = Object.keys(attributes).filter(
    (name) => /^xmlns(?::|$)/.test(name) && attributes[name] === own,
  );
  return new Set([prefix, ...alike.map((name) => (name === "xmlns" ? "" : `${name.slice(6)}:`))]);
}

/** By the byte order mark; XML without one is in UTF-8. */
function encodingName(start: Buffer): string {
  if (start[0] === 0xff && start[1] === 0xfe) return "utf-16le";
  if (start[0] === 0xfe && start[1] === 0xff) return "utf-16be";
  return "utf-8";
}
