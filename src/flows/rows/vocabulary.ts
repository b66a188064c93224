/** The fields and values that `--map` and `--map-value` of a file can name. */
export interface Vocabulary {
  /** Whose files these are: each kind remembers its own answers. */
  readonly kind: "import" | "tryon" | "beautify" | "products";
  /** Whether a header needs one of the fields only: other columns are ignored without a question. */
  readonly needsOne?: boolean;
  /** That of tables, where objects have fewer fields. */
  readonly ofTables?: Vocabulary;
  /** Whether `--map` takes it as a field; `ignore` is one of them. */
  isField(name: string): boolean;
  /** The fields that a header or a mistyped field probably means. */
  nearest(name: string): readonly string[];
  /** The fields that a header may have besides those that are taken, the most likely ones first. */
  freeFields(taken: ReadonlySet<string>): readonly string[];
  readonly reference: string;
  readonly fields: string;
  /** The fields whose values `--map-value` can change. */
  readonly valued: readonly string[];
  /** The field of `valued` that a column has; null for another column. */
  toValuedField(name: string): string | null;
  /** The values that a field takes, as far as they are known. */
  listChoices(field: string): readonly string[] | undefined;
  isOpen(field: string): boolean;
}

/** A value that is not a choice, and the flag that reads it as one. */
export interface ValueMapping {
  readonly field: string;
  readonly from: string;
  /** Undefined if it cannot be guessed. */
  readonly to: string | undefined;
}
