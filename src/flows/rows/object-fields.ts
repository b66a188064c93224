import { unknownColumn } from "./mapped-columns.ts";
import type { InputProblem } from "./problem.ts";
import { emptyColumns, normalHeader, type ObjectForm } from "./row-form.ts";

export interface UnknownField {
  readonly line: number;
  readonly title: string;
  readonly value: unknown;
}

/** Reads the fields of the objects of one file, and collects the unknown ones, as a header has columns. */
export class ObjectFields {
  /** By normal name. */
  readonly unknown = new Map<string, UnknownField>();
  readonly known = new Set<string>();
  /** The mapped fields that the objects have, by normal name. */
  readonly mapped = new Set<string>();
  readonly #form: ObjectForm;
  readonly #fields: ReadonlySet<string>;
  /** The keys that are fields by their own names. */
  readonly #plain = new Set<string>();

  constructor(form: ObjectForm) {
    this.#form = form;
    this.#fields = new Set(form.fields);
  }

  /** The object by its fields, without those that have no value (null), are ignored or not known. */
  read(
    object: Record<string, unknown>,
    line: number,
  ): { row: Record<string, unknown>; fault?: InputProblem } {
    const { map, flat } = this.#form;
    const own = flat === undefined ? object : flat(object);
    // Nearly every object is like the one before.
    if (this.#isPlain(own)) return { row: own };
    const row: Record<string | symbol, unknown> = {};
    const empty: string[] = [];
    let fault: InputProblem | undefined;
    const from = new Map<string, string>();
    for (const [key, value] of Object.entries(own)) {
      const mapped = map.get(normalHeader(key));
      if (mapped !== undefined) this.mapped.add(normalHeader(key));
      const field = mapped === undefined ? key : normalHeader(mapped);
      if (field === "ignore" || field === "") continue;
      if (!this.#fields.has(field)) {
        const name = normalHeader(key);
        if (!this.unknown.has(name)) this.unknown.set(name, { line, title: key, value });
        continue;
      }
      this.known.add(field);
      if (mapped === undefined) this.#plain.add(key);
      if (value === null) {
        empty.push(field);
        continue;
      }
      const earlier = from.get(field);
      if (earlier !== undefined) {
        const message = `the fields "${earlier}" and "${key}" map to the same field: remove one of them`;
        fault ??= { line, param: key, code: "invalid_row", message };
      }
      from.set(field, key);
      row[field] = value;
    }
    if (empty.length > 0) row[emptyColumns] = empty;
    return fault === undefined ? { row } : { row, fault };
  }

  #isPlain(object: Record<string, unknown>): boolean {
    for (const key in object) if (object[key] === null || !this.#plain.has(key)) return false;
    return true;
  }

  /** The problem of an unknown field; null where other fields are ignored. */
  toProblem({ line, title }: UnknownField): InputProblem | null {
    const { words } = this.#form;
    return words.needsOne ? null : { line, ...unknownColumn(title, this.known, words, "field") };
  }
}
