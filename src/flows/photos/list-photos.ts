import { readdir, realpath, stat } from "node:fs/promises";
import { isAbsolute, join, relative, sep } from "node:path";
import { photoEnding } from "../files/file-names.ts";

/** The photos in a folder and its subfolders. */
export interface PhotoListing {
  /** The folder, absolute. */
  readonly folder: string;
  /** Relative to the folder, with `/`, sorted. */
  readonly paths: readonly string[];
  /** Files that are not photos, and links that are not followed: how many, and one of them. */
  readonly others: { count: number; example: string };
  /** The names of the spreadsheets and NDJSON files in the folder itself. */
  readonly sheets: readonly string[];
}

const sheetEnding = /\.(?:csv|tsv|xlsx|xlsm|ods|ndjson|jsonl)(?:\.gz)?$/i;
/** Files that systems put into folders of photos, and the lock files of Excel and LibreOffice. */
const systemFile = /^(?:\.|~\$|(?:thumbs\.db|desktop\.ini|__macosx|@eadir)$)/i;
/** Failed files of earlier imports. */
const failedFile = /\.failed(?:-\d{1,5})?\.[^.]+$/i;

/** Lists a folder without opening its files. Folders that are links are not followed. Throws the errors of the system. */
export async function listPhotos(folder: string, signal: AbortSignal): Promise<PhotoListing> {
  const root = await realpath(folder);
  const paths: string[] = [];
  const sheets: string[] = [];
  const others = { count: 0, example: "" };
  const folders = [""];
  for (let parent = folders.pop(); parent !== undefined; parent = folders.pop()) {
    signal.throwIfAborted();
    for (const entry of await readdir(join(root, parent), { withFileTypes: true })) {
      if (systemFile.test(entry.name)) continue;
      const path = `${parent}${entry.name}`;
      if (entry.isDirectory()) folders.push(`${path}/`);
      else if (parent === "" && sheetEnding.test(path)) {
        if (!failedFile.test(path)) sheets.push(path);
      } else if (photoEnding.test(path) && (entry.isFile() || (await isFileWithin(root, path))))
        paths.push(path);
      else if (others.count++ === 0 || path < others.example) others.example = path;
    }
  }
  return { folder, paths: paths.sort(), sheets: sheets.sort(), others };
}

/** Whether a link leads to a file in the folder. */
async function isFileWithin(root: string, path: string): Promise<boolean> {
  const target = await realpath(join(root, path)).catch(() => null);
  if (target === null) return false;
  const way = relative(root, target);
  return !way.startsWith(`..${sep}`) && !isAbsolute(way) && (await stat(target)).isFile();
}
