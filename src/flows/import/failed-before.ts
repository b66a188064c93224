// What the rows of a failed file said before: what those of its sheet did. Of another file, nothing would be known.

import type { SaidRow } from "../../state/ledger.ts";
import { formatOfName } from "../rows/input-format.ts";
import type { InputRow } from "../rows/row-form.ts";
import { photoColumns } from "../rows/row-form.ts";
import type { FileRow } from "./file-row.ts";
import type { ImportRun } from "./import-run.ts";
import type { RowOutcome } from "./row-result.ts";
import { atPlaces, packSaid, placeOfColumn, unpackSaid } from "./said.ts";
import { toPlace } from "./said-rows.ts";
import { referenceOfRow } from "./weighed-row.ts";

/** Rows of a failed file that are kept in memory until it is written; of more, nothing is known. */
const mostRows = 10_000;

/** Collects what the rows of a failed file said before, and records it for that file. */
export class FailedBefore {
  readonly #run: ImportRun;
  #rows: SaidRow[] | null = [];

  constructor(run: ImportRun) {
    this.#run = run;
  }

  /** A row that is written, without the photos that are attached. */
  add({ content }: Pick<InputRow, "content">, { done = [] }: Pick<RowOutcome, "done">): void {
    const said = this.#run.said.stored(referenceOfRow(content as FileRow));
    if (said === null || this.#rows === null) return;
    const { [photoColumns]: columns = [] } = content as FileRow;
    const left = columns.filter((_, index) => !done.includes(index));
    const places = new Set(left.flatMap((column) => placeOfColumn(column) ?? []));
    const own = done.length === 0 ? said.said : packSaid(atPlaces(unpackSaid(said.said), places));
    this.#rows.push({ ...said, said: own });
    if (this.#rows.length > mostRows) this.#rows = null;
  }

  /** `path`: where the file is now; null if there is none. */
  write(path: string | null): void {
    const rows = this.#rows ?? [];
    if (path === null || formatOfName(path) === "workbook" || this.#run.isPlan) return;
    const { state, account, clock } = this.#run.at;
    const place = toPlace({ path })!;
    if (rows.length === 0 && state.ledger.findFile(account, place) === null) return;
    state.ledger.say(state.ledger.openFile(account, place, clock.now()), rows, { isAnew: true });
  }
}
