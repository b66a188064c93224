import fc from "fast-check";
import { expect, test } from "vitest";
import { profileFileName } from "../../../src/cli/settings/profile-names.ts";

test.each([
  ["default", "default"],
  ["my-shop_2", "my-shop_2"],
  ["a/b", "a%2fb"],
  ["..", "%2e%2e"],
  ["Shop", "%53hop"],
  ["con", "%63on"],
])("the profile %j has the file %j", (profile, name) => {
  expect(profileFileName(profile)).toBe(name);
});

test("no two profiles share a file, even if case is ignored, and all names are valid", () => {
  const name = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,31}$/);
  fc.assert(
    fc.property(name, name, (one, other) => {
      expect(profileFileName(one)).toMatch(/^[a-z0-9%_-]{1,150}$/);
      fc.pre(one !== other);
      expect(profileFileName(one)).not.toBe(profileFileName(other));
    }),
  );
});
