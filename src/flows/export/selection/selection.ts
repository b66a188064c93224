/** A product as the user names it. */
export interface WantedProduct {
  /** The ID or reference, without surrounding space. */
  readonly name: string;
  /** `either`: a text that looks like an ID may be a reference too. */
  readonly as: "id" | "reference" | "either";
  /** The line of the file, from 1; 0 for a flag. */
  readonly line: number;
}

/** The products that a frozen export is limited to, without duplicates. */
export interface Selection {
  /** The file as typed, `-` for standard input; null for flags. */
  readonly file: string | null;
  readonly wanted: readonly WantedProduct[];
}

/** The same products without repetitions, in the order in which they were first named. */
export function withoutRepetitions(wanted: readonly WantedProduct[]): readonly WantedProduct[] {
  const named = new Map<string, WantedProduct>();
  for (const one of wanted) {
    const key = `${one.as} ${one.name}`;
    if (!named.has(key)) named.set(key, one);
  }
  return [...named.values()];
}
