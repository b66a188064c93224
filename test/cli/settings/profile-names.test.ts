import fc from "fast-check";
import { expect, test } from "vitest";
import { profileFileName } from "../../../src/cli/settings/profile-names.ts";

test.each([
  ["default", "default"],
  ["my-shop_2", "my-shop_2"],
  ["a/b", "a%2fb"],
  ["..", "%2e%2e"],
  ["", "%"],
  ["Shop", "%53hop"],
  ["con", "%63on"],
  ["é", "%c3%a9"],
])("the profile %j has the file %j", (profile, name) => {
  expect(profileFileName(profile)).toBe(name);
});

test("no two profiles share a file, even if case is ignored, and all names are valid", () => {
  const name = fc.oneof(fc.string({ unit: "grapheme" }), fc.string({ minLength: 140, maxLength: 400 }));
  fc.assert(
    fc.property(name, name, (one, other) => {
      expect(profileFileName(one)).toMatch(/^[a-z0-9%_-]{1,150}$/);
      fc.pre(one !== other);
      expect(profileFileName(one)).not.toBe(profileFileName(other));
    }),
  );
  const long = "x".repeat(200);
  expect(profileFileName(`${long}a`)).not.toBe(profileFileName(`${long}b`));
});
