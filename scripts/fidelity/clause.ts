import type { ErrorCode } from "../../src/contract/error-codes.ts";
import type { limits } from "../../src/contract/limits.ts";
import type { Operations } from "../../src/contract/operations.ts";
import type { EventType } from "../../src/contract/value-sets.ts";

type OperationName = {
  [Resource in keyof Operations]: `${Resource}.${keyof Operations[Resource] & string}`;
}[keyof Operations];

/** A part of the contract that at least one clause must cover. */
export type Topic =
  | `operation ${OperationName}`
  | `limit ${keyof typeof limits}`
  | `code ${ErrorCode}`
  | `event ${EventType}`;

/**
 * A test: its file under `test/` and its titles from the outermost in, e.g. `mock/products.test.ts > delete
 * > …`.
 */
export type TestName = `${string}.test.ts > ${string}`;

/**
 * Whether the mock follows a clause, follows our choice because the specification is silent, or does not
 * model it.
 */
export type Kind = "enforced" | "assumed" | "not modeled";

/** One clause of the specification or the interface, in our words. */
export interface Clause {
  readonly kind: Kind;
  readonly text: string;
  /** The choice, or why it is not modeled. */
  readonly remark: string;
  /** The tests that show it; none for a clause that is not modeled. */
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

/** A clause that the mock follows. */
export const enforced = (text: string, tests: Tests, ...covers: Topic[]): Clause => ({
  ...{ kind: "enforced", text, remark: "", tests: listed(tests), covers },
});

/** A point on which the specification is silent, and our choice. */
export const assumed = (text: string, remark: string, tests: Tests, ...covers: Topic[]): Clause => ({
  ...{ kind: "assumed", text, remark, tests: listed(tests), covers },
});

/** A clause that the mock does not model, and why. */
export const notModeled = (text: string, remark: string, ...covers: Topic[]): Clause => ({
  ...{ kind: "not modeled", text, remark, tests: [], covers },
});

/** Tests of one file by title. */
export const inFile =
  (file: `${string}.test.ts`) =>
  (...titles: string[]): TestName[] =>
    titles.map((title) => `${file} > ${title}` as const);
