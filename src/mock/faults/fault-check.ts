import * as z from "zod";
import { isObject } from "../../json.ts";
import { checkAll } from "../rules/checks.ts";
import type { Problem } from "../rules/rejection.ts";
import {
  effectShape,
  type FaultKind,
  FaultOrder,
  matchShape,
  mostEntries,
  type Shown,
} from "./fault-order.ts";

/** The fields of a shape for faults of this kind, without those that belong to another field. */
const fieldsOf = (shape: Readonly<Record<string, z.ZodType>>, kind: FaultKind): string[] =>
  Object.keys(shape).filter((name) => {
    const { "x-acts-on": actsOn, "x-with": owner } = shape[name]!.meta() as unknown as Shown;
    return actsOn.includes(kind) && owner === undefined;
  });

/** The effects of each kind. */
const effects: Readonly<Record<FaultKind, readonly string[]>> = {
  request: fieldsOf(effectShape, "request"),
  job: fieldsOf(effectShape, "job"),
  delivery: fieldsOf(effectShape, "delivery"),
};
const allEffects = [...new Set(Object.values(effects).flat())];

/** The checked fault; 400 with every problem at once. */
export function readFault(value: unknown): FaultOrder {
  const long = isObject(value) ? listProblems(value) : [];
  // The entries are not even checked: each could have a problem.
  if (long.length > 0) checkAll(z.unknown(), value, "body", () => long);
  return checkAll(FaultOrder, value, "body", conflicts);
}

/** What a fault acts on. */
export function kindOf(match: unknown): FaultKind {
  if (!isObject(match)) return "request";
  if (match.job !== undefined) return "job";
  return match.event === undefined ? "request" : "delivery";
}

/** Problems between fields, also if a field is invalid by itself. */
function conflicts(order: unknown): Problem[] {
  if (!isObject(order)) return [];
  const { sequence, times } = order;
  const kind = kindOf(order.match);
  const problems = isObject(order.match) ? matchProblems(order.match, kind) : [];
  if (sequence === undefined) return [...problems, ...effectProblems(order, kind, "", 1)];
  for (const name of allEffects)
    if (order[name] !== undefined) problems.push(problem("cannot be combined with sequence", name));
  if (times !== undefined)
    problems.push(problem("cannot be combined with sequence, which ends after its last entry", "times"));
  const entries = Array.isArray(sequence) ? sequence.filter(isObject) : [];
  return [...problems, ...entries.flatMap((entry, at) => effectProblems(entry, kind, `sequence[${at}].`, 0))];
}

/** A fault acts on one kind only. */
function matchProblems(match: Readonly<Record<string, unknown>>, kind: FaultKind): Problem[] {
  if (kind === "request" && match.webhook_id !== undefined)
    return [problem("needs match.event", "match.webhook_id")];
  const own = fieldsOf(matchShape, kind);
  return Object.keys(matchShape)
    .filter((name) => match[name] !== undefined && !own.includes(name))
    .map((name) => problem(`cannot be combined with match.${own[0]}`, `match.${name}`));
}

/** An effect is one field that fits the kind; `at` is its place, `least` how many it needs. */
function effectProblems(
  effect: Readonly<Record<string, unknown>>,
  kind: FaultKind,
  at: string,
  least: 0 | 1,
): Problem[] {
  const given = allEffects.filter((name) => effect[name] !== undefined);
  const problems: Problem[] = [];
  if (given.length < least || given.length > 1) {
    const message = `needs ${least === 1 ? "exactly" : "at most"} one of ${effects[kind].join(", ")}`;
    problems.push(at === "" ? { message: `a fault ${message}` } : problem(message, at.slice(0, -1)));
  }
  for (const name of given.length === 1 ? given : [])
    if (!effects[kind].includes(name)) problems.push(problem(misfit(kind, name), at + name));
  if (kind === "delivery" && effect.drop === "crash")
    problems.push(problem("must be before or after for a delivery", `${at}drop`));
  return [...problems, ...responseProblems(effect, at)];
}

/** Headers and a body belong to a status. */
function responseProblems(
  { status, headers, body }: Readonly<Record<string, unknown>>,
  at: string,
): Problem[] {
  const lone = status === undefined ? Object.entries({ headers, body }) : [];
  const problems = lone
    .filter(([, value]) => value !== undefined)
    .map(([name]) => problem("needs a status", at + name));
  if (body !== undefined && typeof status === "number" && bodiless.includes(status))
    problems.push(problem(`a response with status ${status} has no body`, `${at}body`));
  return problems;
}

/** Why an effect does not fit what the fault acts on. */
function misfit(kind: FaultKind, name: string): string {
  if (kind === "job") return "a job can only fail: use fail with a code and a message";
  if (name === "fail") return "needs match.job, because only jobs fail with a code";
  return kind === "request" ? "needs match.event, because it is for deliveries" : "is not for deliveries";
}

const problem = (message: string, param: string): Problem => ({ message: `${param}: ${message}`, param });

/** Lists and objects with too many entries, or with a name that the schema library skips. */
function listProblems({ match, headers, sequence }: Readonly<Record<string, unknown>>): Problem[] {
  const { query, headers: matched } = isObject(match) ? match : ({} as Readonly<Record<string, unknown>>);
  const lists = { "match.query": query, "match.headers": matched, headers, sequence };
  return Object.entries(lists).flatMap(([name, list]) => {
    if (typeof list !== "object" || list === null) return [];
    if (Object.keys(list).length > mostEntries)
      return [problem(`must have at most ${mostEntries} entries`, name)];
    return Object.hasOwn(list, "__proto__")
      ? [problem("cannot be compared or sent", `${name}.__proto__`)]
      : [];
  });
}

/** Statuses of responses without a body (RFC 9110). */
const bodiless: readonly number[] = [204, 205, 304];
