import { expect, test } from "vitest";
import { Secrets } from "../../../src/cli/output/secrets.ts";

const key = "ak_live_0123456789abcdefWXYZ";
const signing = "whsec_0123456789abcdef";

test.each([
  [`as ${key}, twice: ${key}`, "as ak_…WXYZ, twice: ak_…WXYZ"],
  [`{"a":"${signing}"}`, '{"a":"whsec_…"}'],
  ["whsec_… and whsec_short", "whsec_… and whsec_short"],
  ["ak_live_0123456789abcdef", "ak_live_0123456789abcdef"],
])("%s is shown as %s", (text, shown) => {
  expect(new Secrets({ CAT_API_KEY: ` ${key}\n` }).mask(text)).toBe(shown);
});

test("masks a key with quotes in JSON, in a URL and in a CSV cell too", () => {
  const odd = 'ak_"quoted"/\\key';
  const { mask } = new Secrets({ CAT_API_KEY: odd });
  const csv = `"${odd.replaceAll('"', '""')}"`;
  expect(mask(`${odd} ${JSON.stringify([odd])} ?k=${encodeURIComponent(odd)} ${csv}`)).toBe(
    'ak_… ["ak_…"] ?k=ak_… "ak_…"',
  );
});

test("masks any CAT_WEBHOOK_SECRET except a very short one", () => {
  const { mask } = new Secrets({ CAT_WEBHOOK_SECRET: "whsec_!!not/base64!!", CAT_API_KEY: "short" });
  expect(mask("whsec_!!not/base64!! short")).toBe("whsec_… short");
});

test("the output does not mask a secret that a command shows on purpose", () => {
  const secrets = new Secrets({ CAT_API_KEY: key });
  secrets.show(signing);
  const line = JSON.stringify({ signing_secret: signing, was: `${signing}0`, key });
  expect(secrets.mask(line)).toBe(
    JSON.stringify({ signing_secret: signing, was: "whsec_…", key: "ak_…WXYZ" }),
  );
  secrets.show(key);
  secrets.add(key);
  expect(secrets.mask(key)).toBe(key);
});
