import type { ErrorCode } from "../../src/contract/error-codes.ts";
import type { limits } from "../../src/contract/limits.ts";
import type { Operations } from "../../src/contract/operations.ts";
import type { EventType } from "../../src/contract/value-sets.ts";

type OperationName = {
  [Resource in keyof Operations]: `${Resource}.${keyof Operations[Resource] & string}`;
}[keyof Operations];

/** A part of the contract that some clause must be about. */
export type Topic =
  | `operation ${OperationName}`
  | `limit ${keyof typeof limits}`
  | `code ${ErrorCode}`
  | `event ${EventType}`;

/** A test by its file under `test/` and its titles from the outermost in, e.g. `mock/products.test.ts > delete > …`. */
export type TestName = `${string}.test.ts > ${string}`;

/** How the fake treats a clause: it holds to it, holds to a choice where the specification is silent, or does without. */
export type Kind = "enforced" | "assumed" | "not modelled";

/** One clause of the specification or the interface, in our words. */
export interface Clause {
  readonly kind: Kind;
  readonly text: string;
  /** What was chosen, or why it is not modelled. */
  readonly remark: string;
  /** The tests that show it; none for what is not modelled. */
  readonly tests: readonly TestName[];
  readonly covers: readonly Topic[];
}

/** The clauses of one part of a document. */
export interface Section {
  readonly title: string;
  readonly clauses: readonly Clause[];
}

type Tests = TestName | readonly TestName[];

const listed = (tests: Tests): readonly TestName[] => (typeof tests === "string" ? [tests] : tests);

/** A clause that is held to. */
export const enforced = (text: string, tests: Tests, ...covers: Topic[]): Clause => ({
  ...{ kind: "enforced", text, remark: "", tests: listed(tests), covers },
});

/** A matter on which the specification is silent, and what was chosen. */
export const assumed = (text: string, remark: string, tests: Tests, ...covers: Topic[]): Clause => ({
  ...{ kind: "assumed", text, remark, tests: listed(tests), covers },
});

/** A clause that the fake does without, and why. */
export const notModelled = (text: string, remark: string, ...covers: Topic[]): Clause => ({
  ...{ kind: "not modelled", text, remark, tests: [], covers },
});

/** Tests of one file, by their titles. */
export const inFile =
  (file: `${string}.test.ts`) =>
  (...titles: string[]): TestName[] =>
    titles.map((title) => `${file} > ${title}` as const);
