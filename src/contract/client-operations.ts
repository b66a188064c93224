import type { BodyType, Operation } from "./operation.ts";
import { operations as definitions, type Operations } from "./operations.ts";
import { ImportRowResult } from "./resources/imports.ts";
import type { Shape } from "./response-shape.ts";
import { toShape } from "./response-values.ts";

/** An operation for clients; built programs have these as JSON: schemas load slowly (scripts/build.js). */
export interface ClientOperation<Definition = unknown>
  extends Pick<Operation, "method" | "path" | "summary" | "scope" | "status"> {
  readonly params: readonly string[];
  readonly query: readonly string[];
  /** The content types of the body; empty without one. */
  readonly body: readonly BodyType[];
  /** The parts of the response that the client relies on; null for an empty body. */
  readonly reply: Shape | null;
  /** Whether a 400 lists every problem of the input (Errors). */
  readonly listsProblems: boolean;
  /** Missing at run time. */
  readonly definition?: Definition;
}

export type ClientOperations = {
  readonly [Resource in keyof Operations]: {
    readonly [Verb in keyof Operations[Resource]]: ClientOperation<Operations[Resource][Verb]>;
  };
};

const forClients = (operation: Operation): ClientOperation => {
  const { method, path, summary, scope, status, params, query, body = {}, reply } = operation;
  return {
    method,
    path,
    summary,
    scope,
    status,
    params: Object.keys(params.shape),
    query: Object.keys(query.shape),
    body: Object.keys(body) as BodyType[],
    reply: reply === null ? null : toShape(reply),
    listsProblems: operation.rejectionList !== undefined,
  };
};

export const operations = mapped(definitions, (verbs) =>
  mapped(verbs as unknown as Record<string, Operation>, forClients),
) as unknown as ClientOperations;

/** A row result, which an import relies on and other commands only show. */
export const importRowResult = toShape(ImportRowResult);

function mapped<Value, Result>(
  values: Readonly<Record<string, Value>>,
  to: (value: Value) => Result,
): Record<string, Result> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, to(value)]));
}
