import { expect, test } from "vitest";
import { isOfService } from "../../src/client/read-response.ts";

const answer = (status: number, json: unknown, body = JSON.stringify(json) ?? "") => ({
  ...{ status, json, headers: {}, body: Buffer.from(body) },
});
const error = { type: "forbidden", code: "insufficient_scope", message: "no" };

test.each([
  ["the envelope", 403, { error }, true],
  ["the envelope with more fields", 403, { error: { ...error, param: "a", later: 1 }, more: 1 }, true],
  ["a type that the service does not have", 403, { error: { ...error, type: "forbidden_by_waf" } }, false],
  ["an empty type", 403, { error: { ...error, type: "" } }, false],
  ["no code", 403, { error: { type: "forbidden", message: "Blocked by policy 1020" } }, false],
  ["a code that is a number", 403, { error: { ...error, code: 1020 } }, false],
  ["no message", 403, { error: { type: "forbidden", code: "a" } }, false],
  ["the list of problems", 400, { errors: [{ line: 1, code: "invalid_row", message: "a" }] }, true],
  ["the list of problems with another status", 403, { errors: [{ line: 1 }] }, false],
  ["a list of other problems", 400, { errors: [{ title: "a" }] }, false],
  ["JSON of another shape", 404, { message: "no route" }, false],
  ["no JSON", 404, undefined, false],
  ["JSON", 200, {}, true],
  ["HTML with 200", 200, undefined, false],
])("a response with %s (%i)", (_, status, json, expected) => {
  expect(isOfService(answer(status, json))).toBe(expected);
});
