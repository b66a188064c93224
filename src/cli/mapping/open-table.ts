import { basename } from "node:path";
import type { HeaderForm } from "../../flows/rows/find-header.ts";
import type { ColumnMap, Mapping } from "../../flows/rows/mapped-columns.ts";
import type { FileJob, Source } from "../../flows/rows/source.ts";
import type { Vocabulary } from "../../flows/rows/vocabulary.ts";
import type { App } from "../app/app.ts";
import { type InputFlags, openInput } from "../files/open-input.ts";

/** How the columns of a file are known. */
export interface TableReading {
  readonly job: FileJob;
  readonly words: Vocabulary;
  /** What the flags map. */
  readonly flags: Pick<Mapping, "map">;
  /** What the file of mappings maps. */
  readonly mapFile: Pick<Mapping, "map"> | null;
  /** The forms of the rows with a mapping, the one that needs most columns first. */
  readonly forms: (map: ColumnMap) => readonly [HeaderForm, ...HeaderForm[]];
  readonly isCompared?: boolean;
}

/**
 * Opens a file of rows. The sheet of a workbook is chosen by all that is known of its columns, and remembered
 * where the user was asked. Throws InputError and WorkbookError.
 */
export function openTable(
  app: App,
  given: InputFlags,
  { job, words, flags, mapFile, forms, isCompared }: TableReading,
): Promise<Source> {
  const saved = () => import("./saved-mapping.ts");
  const name = given.file === "-" ? null : basename(given.file);
  const columns = {
    forms: async () => {
      const map = await (await saved()).rememberedColumns(app, words);
      return forms(new Map([...map, ...(mapFile?.map ?? []), ...flags.map]));
    },
    mapped: [...flags.map.keys()],
    remembered: async () => (name === null ? null : (await saved()).savedSheet(app, name)),
    remember: async (sheet: string) => {
      if (name !== null) await (await saved()).saveSheet(app, name, sheet);
    },
  };
  return openInput(app, given, { job, columns, ...(isCompared !== undefined && { isCompared }) });
}
