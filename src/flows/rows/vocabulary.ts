/** What the columns and the values of a file can be read as, for `--map` and `--map-value`. */
export interface Vocabulary {
  /** Whether `--map` takes it as a field; `ignore` is one of them. */
  isField(name: string): boolean;
  /** The fields that a header or a mistyped field probably means. */
  nearest(name: string): readonly string[];
  /** The fields that a header may have besides those that are taken, the most likely ones first. */
  freeFields(taken: ReadonlySet<string>): readonly string[];
  /** The field with the reference of a product. */
  readonly reference: string;
  /** All fields, for messages. */
  readonly fields: string;
  /** The fields whose values `--map-value` can change. */
  readonly valued: readonly string[];
  /** The only values that a field takes, if there are such. */
  choicesOf(field: string): readonly string[] | undefined;
}

/** A value that is not a choice, and the flag that reads it as one. */
export interface ValueFix {
  readonly field: string;
  readonly from: string;
  /** Undefined if it cannot be guessed. */
  readonly to: string | undefined;
}
