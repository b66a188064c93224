// Which kind of workbook a file is, and its sheets and rows whatever the kind.

import { open } from "node:fs/promises";
import { basename } from "node:path";
import { fileStart } from "../files/disk.ts";
import { listOdsSheets, readOdsSheet } from "./ods.ts";
import { encryptedWorkbook, openPackage, type Package, WorkbookError } from "./package.ts";
import { headRows, noExtras, readSheet, type SheetExtras, type SheetRow } from "./sheet.ts";
import { readWorkbook } from "./workbook.ts";

export interface OpenWorkbook {
  readonly sheets: readonly { readonly name: string; readonly isHidden: boolean }[];
  /** The first rows with cells of a sheet (its index), as many as `headRows`. Throws WorkbookError. */
  head(sheet: number): Promise<readonly SheetRow[]>;
  /** Rows with cells of a sheet, in batches; `extras` is filled meanwhile. Throws WorkbookError. */
  rows(sheet: number, extras: SheetExtras): AsyncGenerator<SheetRow[]>;
  close(): void;
}

/** The start of a file, enough to know its kind. */
const startBytes = 8;
const compoundStart = Buffer.from("d0cf11e0a1b11ae1", "hex");

/** Excel's file next to an open workbook: a byte for the length of the user's name, then the name. */
const isLockFile = (path: string, start: Buffer): boolean =>
  basename(path).startsWith("~$") && (start[0] ?? 0) < 0x37;

/** Opens a workbook; `name` is its name in messages. Throws WorkbookError, and errors of the file system. */
export async function openWorkbook(path: string, name: string): Promise<OpenWorkbook> {
  const start = await fileStart(path, startBytes);
  if (isLockFile(path, start))
    throw unreadable(name, "is a lock file of Excel", "Choose the file without ~$.");
  if (start.equals(compoundStart)) throw await compoundFile(path, name);
  const pack = await openPackage(path, name);
  try {
    return await openKind(pack);
  } catch (error) {
    pack.close();
    throw error;
  }
}

async function openKind(pack: Package): Promise<OpenWorkbook> {
  const { name } = pack;
  if (pack.has("content.xml") && pack.has("mimetype")) {
    const sheets = await listOdsSheets(pack);
    return {
      sheets,
      head: async (sheet) => sheets[sheet]!.head,
      rows: (sheet, extras) => readOdsSheet(pack, sheet, extras),
      close: () => pack.close(),
    };
  }
  if (pack.paths.some((path) => path.endsWith("workbook.bin")))
    throw unreadable(name, "is a binary workbook (.xlsb)");
  if (pack.has("encrypted-package")) throw encryptedWorkbook(name);
  if (pack.paths.some((path) => path.endsWith(".iwa") || path.endsWith("index.zip")))
    throw unreadable(name, "is a file of Numbers");
  if (!pack.has("[Content_Types].xml"))
    throw unreadable(name, "is a ZIP file, not a workbook", "Unzip it first.");
  if (!pack.paths.some((path) => /(?:^|\/)workbook\.xml$/i.test(path)))
    throw unreadable(name, "is another kind of Office file, not a workbook", "Choose another file.");
  const book = await readWorkbook(pack);
  const { sheets, sharedStrings } = book;
  return {
    sheets,
    head: (sheet) => firstRows(readSheet(book, sheets[sheet]!, noExtras())),
    rows: (sheet, extras) => readSheet(book, sheets[sheet]!, extras),
    close() {
      sharedStrings.close();
      pack.close();
    },
  };
}

async function firstRows(batches: AsyncIterable<readonly SheetRow[]>): Promise<SheetRow[]> {
  const head: SheetRow[] = [];
  for await (const rows of batches) {
    head.push(...rows.slice(0, headRows - head.length));
    if (head.length === headRows) break;
  }
  return head;
}

const saveAsXlsx = "Open it in its program, save it as .xlsx, and use that.";

const unreadable = (name: string, what: string, hint = saveAsXlsx): WorkbookError =>
  new WorkbookError("unreadable_workbook", `${name} ${what}`, hint);

/** The format of Excel up to 2003, which holds newer workbooks with a password too. */
async function compoundFile(path: string, name: string): Promise<WorkbookError> {
  const file = await open(path);
  try {
    const read = async (bytes: number, position: number) => {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes), 0, bytes, position);
      return buffer.subarray(0, bytesRead - (bytesRead % 2));
    };
    const header = Buffer.concat([await read(64, 0), Buffer.alloc(64)]);
    // The size of a sector as a power of two, and the sector in which the list of names begins ([MS-CFB]
    // 2.2).
    const sectorBytes = 2 ** Math.min(12, header.readUInt16LE(30));
    const list = await read(4096, (header.readUInt32LE(48) + 1) * sectorBytes);
    const names = list.toString("utf16le");
    return names.includes("EncryptedPackage")
      ? encryptedWorkbook(name)
      : unreadable(name, "is in the format of Excel before 2007 (.xls)");
  } finally {
    await file.close();
  }
}
