import fc from "fast-check";
import { expect, test } from "vitest";
import {
  angleShotProblem,
  backgroundProblem,
  styleProblem,
  subtypeProblem,
} from "../../src/contract/generation-rules.ts";
import { BeautifierRequest, TryonInput } from "../../src/contract/resources/task.ts";
import {
  beautifierAngleShots,
  beautifierBackgrounds,
  beautifierStyles,
  taskSubtypes,
  tryonAngleShots,
  tryonBackgrounds,
} from "../../src/contract/value-sets.ts";

const near = (known: readonly string[]) =>
  fc.oneof(
    fc.constantFrom(...known),
    fc.constantFrom(...known).map((one) => `${one} `),
    fc.constantFrom("#f4f1ea", "#F4F1EA", "#f4f1e", "f4f1ea", "custom-", "custom-a", "custom-a b", ""),
    fc.string({ maxLength: 12 }),
  );

test("values of a try-on are judged as the schema judges them", () => {
  fc.assert(
    fc.property(near(tryonBackgrounds), near(tryonAngleShots), (background, angle_shot) => {
      const isValid = TryonInput.safeParse({
        product_id: "p",
        model_id: "m",
        background,
        angle_shot,
      }).success;
      const problems = [backgroundProblem("tryon", background), angleShotProblem("tryon", null, angle_shot)];
      expect(problems.every((one) => one === null)).toBe(isValid);
    }),
    { numRuns: 500 },
  );
});

const angles = [...new Set(Object.values(beautifierAngleShots).flat())];

test("values of a beautifier are judged as the schema and the rules of subtypes judge them", () => {
  fc.assert(
    fc.property(
      near(taskSubtypes),
      near(beautifierBackgrounds),
      near(angles),
      fc.option(near(beautifierStyles), { nil: undefined }),
      (subtype, background, angle_shot, style) => {
        const body = {
          subtype,
          inputs: { product_id: "p", background, angle_shot, ...(style !== undefined && { style }) },
        };
        const known = taskSubtypes.find((one) => one === subtype);
        const fits =
          known !== undefined &&
          (beautifierAngleShots[known] as readonly string[]).includes(angle_shot) &&
          (style === undefined || known === "clothing");
        const problems = [
          subtypeProblem(subtype),
          backgroundProblem("beautify", background),
          angleShotProblem("beautify", subtype, angle_shot),
          style === undefined ? null : styleProblem(subtype, style),
        ];
        expect(problems.every((one) => one === null)).toBe(BeautifierRequest.safeParse(body).success && fits);
      },
    ),
    { numRuns: 500 },
  );
});
