import fc from "fast-check";
import { expect, test } from "vitest";
import {
  customAngleShotPrefix,
  tryonAngleShots,
  tryonBackgrounds,
} from "../../../src/contract/value-sets.ts";
import { repetitions } from "../../support/repetitions.ts";
import { startWorld } from "../world.ts";

/** A field value and its expected problems: code and param. */
interface Part {
  readonly value: unknown;
  readonly problems: readonly (readonly [code: string, param: string])[];
}
const right = (value: unknown): Part => ({ value, problems: [] });
const wrong = (value: unknown, param: string, code = "invalid_request"): Part => ({
  value,
  problems: [[code, param]],
});
const oneOf = (...parts: readonly Part[]) => fc.constantFrom(...parts);
const noText = [undefined, null, 7, true, [], {}];

test("every problem of every invalid input is listed once, in order", async () => {
  const world = await startWorld();
  const main = (await world.createProduct({ reference: "MAIN" })).body.id as string;
  const styling = (await world.createProduct({ reference: "STYLING" })).body.id as string;
  const nobody = "01HN1H1W2BE2ZP0BXGX60T7K32";

  const productId = oneOf(
    right(main),
    ...noText.map((value) => wrong(value, "product_id")),
    ...["", "x", nobody].map((value) => wrong(value, "product_id", "product_not_found")),
  );
  const modelId = oneOf(
    right("mdl_001"),
    right("mdl_012"),
    ...[...noText, ""].map((value) => wrong(value, "model_id")),
    ...["mdl_013", main].map((value) => wrong(value, "model_id", "model_not_found")),
  );
  const background = oneOf(
    ...[...tryonBackgrounds, "#00ff7F"].map(right),
    ...[...noText, "", "floor", "White", "#00ff7", "00ff7f"].map((value) => wrong(value, "background")),
  );
  const angleShot = oneOf(
    ...[...tryonAngleShots, `${customAngleShotPrefix}x-1`].map(right),
    ...[...noText, "", "front", customAngleShotPrefix, "custom-a b"].map((value) =>
      wrong(value, "angle_shot"),
    ),
  );
  const looks = oneOf(
    ...[undefined, true, false].map(right),
    ...[null, "true", 1, []].map((value) => wrong(value, "look_at_camera")),
  );
  const entry = oneOf(
    right(styling),
    wrong(main, "", "invalid_request"),
    wrong("01HN1H1W2BE2ZP0BXGX60T7K33", "", "product_not_found"),
    wrong(null, ""),
    wrong(7, ""),
  );
  const stylings = fc.oneof(
    oneOf(
      right(undefined),
      right([]),
      ...[null, "x", {}].map((value) => wrong(value, "styling_product_ids")),
    ),
    fc.array(entry, { maxLength: 12 }).map(
      (entries): Part => ({
        value: entries.map(({ value }) => value),
        problems: [
          ...(entries.length > 10 ? [["invalid_request", "styling_product_ids"] as const] : []),
          ...entries
            .slice(0, 10)
            .flatMap(({ problems }, index) =>
              problems.map(([code]) => [code, `styling_product_ids[${index}]`] as const),
            ),
        ],
      }),
    ),
  );
  const more = fc.uniqueArray(fc.constantFrom("subtype", "style", "Background", "x"), { maxLength: 2 });
  const input = fc
    .record({ productId, modelId, background, angleShot, looks, stylings, more })
    .map(({ more, ...parts }): Part => {
      const value = {
        product_id: parts.productId.value,
        model_id: parts.modelId.value,
        background: parts.background.value,
        angle_shot: parts.angleShot.value,
        look_at_camera: parts.looks.value,
        styling_product_ids: parts.stylings.value,
        ...Object.fromEntries(more.map((name) => [name, 1])),
      };
      // A styling product equals the main product only if the input has one.
      const problems = Object.values(parts)
        .flatMap((part) => part.problems)
        .filter(([, param]) => {
          const index = /^styling_product_ids\[(\d+)\]$/.exec(param)?.[1];
          return (
            index === undefined ||
            (parts.stylings.value as unknown[])[Number(index)] !== main ||
            value.product_id === main
          );
        });
      return { value, problems: [...problems, ...more.map((name) => ["invalid_request", name] as const)] };
    });
  const none = fc
    .constantFrom(null, 1, "x", [])
    .map((value): Part => ({ value, problems: [["invalid_request", ""]] }));
  const good = fc.constant(
    right({ product_id: main, model_id: "mdl_001", background: "white", angle_shot: "full-front" }),
  );

  const inputs = fc.array(fc.oneof({ weight: 5, arbitrary: input }, none, good), {
    minLength: 1,
    maxLength: 20,
  });
  await fc.assert(
    fc.asyncProperty(inputs, async (parts) => {
      const got = await world.send("/v1/tasks/tryon", { json: { inputs: parts.map(({ value }) => value) } });
      const expected = parts.flatMap(({ problems }, index) =>
        problems.map(([code, param]) => `${index} ${code} ${param}`),
      );
      if (expected.length === 0) {
        expect([got.status, got.body.tasks.length]).toEqual([202, parts.length]);
        return;
      }
      expect(got.status).toBe(400);
      const errors: { input_index: number; type: string; code: string; param?: string }[] = got.body.errors;
      const indexes = errors.map(({ input_index }) => input_index);
      expect(indexes).toEqual(indexes.toSorted((a, b) => a - b));
      const listed = errors.map(({ input_index, code, param = "" }) => `${input_index} ${code} ${param}`);
      expect(listed.toSorted()).toEqual(expected.toSorted());
      for (const { type, code } of errors) {
        expect(type).toBe(code.endsWith("_not_found") ? "not_found" : "invalid_request");
      }
    }),
    { numRuns: repetitions(20, 3_000) },
  );
});
