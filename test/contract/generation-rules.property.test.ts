import fc from "fast-check";
import { expect, test } from "vitest";
import { styleProblem, subtypeProblem, unlistedValues } from "../../src/contract/generation-rules.ts";
import { BeautifierRequest, TryonInput } from "../../src/contract/resources/tasks.ts";
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
    fc.constantFrom("#f4f1ea", "#F4F1EA", "#f4f1e", "f4f1ea", "custom-", "custom-a", "custom-a b"),
    fc.string({ minLength: 1, maxLength: 12 }),
  );
const isColor = (text: string) => /^#[0-9a-f]{6}$/i.test(text);

test("any background and angle of a try-on fit the contract; those that no list has are unlisted", () => {
  fc.assert(
    fc.property(near(tryonBackgrounds), near(tryonAngleShots), (background, angle_shot) => {
      const input = { product_id: "p", model_id: "m", background, angle_shot };
      expect(TryonInput.safeParse(input).success).toBe(true);
      const values = {
        kind: "tryon",
        background,
        angleShot: angle_shot,
        subtype: null,
        style: null,
      } as const;
      const fields = unlistedValues(values).map(({ field }) => field);
      const isListed = (tryonBackgrounds as readonly string[]).includes(background) || isColor(background);
      const isKnown =
        (tryonAngleShots as readonly string[]).includes(angle_shot) || /^custom-[\w-]+$/.test(angle_shot);
      expect(fields).toEqual([...(isListed ? [] : ["background"]), ...(isKnown ? [] : ["angle_shot"])]);
    }),
    { numRuns: 500 },
  );
});

const angles = [...new Set(Object.values(beautifierAngleShots).flat())];

test("only the subtype and the style of a beautifier are limited by the contract", () => {
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
        const problems = [subtypeProblem(subtype), style === undefined ? null : styleProblem(style)];
        expect(BeautifierRequest.safeParse(body).success).toBe(problems.every((one) => one === null));
        const known = taskSubtypes.find((one) => one === subtype);
        const values = {
          kind: "beautify",
          background,
          angleShot: angle_shot,
          subtype,
          style: style ?? null,
        } as const;
        const fields = unlistedValues(values).map(({ field }) => field);
        const isListed =
          (beautifierBackgrounds as readonly string[]).includes(background) || isColor(background);
        const fits =
          known === undefined || (beautifierAngleShots[known] as readonly string[]).includes(angle_shot);
        expect(fields).toEqual([
          ...(isListed ? [] : ["background"]),
          ...(fits ? [] : ["angle_shot"]),
          ...(style === undefined || known === undefined || known === "clothing" ? [] : ["style"]),
        ]);
      },
    ),
    { numRuns: 500 },
  );
});
