import { basename } from "node:path";
import type { HeaderForm } from "../../flows/rows/find-header.ts";
import type { ColumnMap } from "../../flows/rows/mapped-columns.ts";
import type { FileJob, Source } from "../../flows/rows/source.ts";
import type { App } from "../app/app.ts";
import { type InputFlags, openInput } from "../files/open-input.ts";
import type { MapFile } from "./map-file.ts";

export interface TableReading {
  readonly job: FileJob;
  readonly flags: { readonly map: ColumnMap; readonly mapFile: string | undefined };
  readonly mapFiles: readonly MapFile[];
  /** The forms of the rows with a mapping, the one that needs most columns first. */
  readonly forms: (map: ColumnMap) => readonly [HeaderForm, ...HeaderForm[]];
  readonly isCompared?: boolean;
}

/** Opens a file of rows; its sheet is found by all known columns. Throws InputError and WorkbookError. */
export function openTable(
  app: App,
  given: InputFlags,
  { job, flags, mapFiles, forms, isCompared }: TableReading,
): Promise<Source> {
  const maps = [flags, ...mapFiles].map(({ map }) => map).reverse();
  const name = basename(given.file);
  const columns = {
    forms: forms(new Map(maps.flatMap((map) => [...map]))),
    mapped: [...flags.map.keys()],
    chosenBefore: mapFiles.flatMap(({ sheets }) => sheets.get(name) ?? [])[0],
    async remember(sheet: string) {
      const { saveAnswers } = await import("./save-answers.ts");
      await saveAnswers(app, { ...flags, file: given.file }, { sheets: new Map([[name, sheet]]) });
    },
  };
  return openInput(app, given, { job, columns, ...(isCompared !== undefined && { isCompared }) });
}
