import { expect, test } from "vitest";
import { keyMask, withoutKey } from "../../src/http/mask.ts";

const key = "ak_live_0123/45+789abcdefWXYZ";
const masked = "ak_…WXYZ";
const mask = keyMask(key);

test.for([
  ["as is", key],
  ["with the JSON escapes of other writers", key.replaceAll("/", "\\/")],
  ["in a URL", encodeURIComponent(key)],
  ["with some characters by their numbers", key.replaceAll("_", "\\u005f").replaceAll("+", "\\u002B")],
  [
    "with all characters by their numbers",
    key.replace(/./g, (one) => `\\u00${one.charCodeAt(0).toString(16)}`),
  ],
  ["in a URL in lower case", encodeURIComponent(key).replaceAll("%2F", "%2f")],
])("a key in a text of the service is masked %s", ([, form]) => {
  expect(mask(`{"name":"Käse 日本 ${form}!","other":"${form}"}`)).toBe(
    `{"name":"Käse 日本 ${masked}!","other":"${masked}"}`,
  );
});

test("an escaped backslash before an escape of the key stays, so that the JSON is complete", () => {
  const json = JSON.stringify({ name: `\\u0061${key.slice(1)}` });
  expect(JSON.parse(mask(json))).toEqual({ name: `\\u0061${key.slice(1)}` });
});

test.for(["ak_dress_001", "AK_LIVE_0123/45+789ABCDEFWXYZ", "ak_live_0123/45+789abcdefWXY"])(
  "%s is not masked: it is another text",
  (text) => expect(mask(text)).toBe(text),
);

test("a key of less than eight characters, such as that of the mock, is not masked", () => {
  expect(keyMask("ak_mock")("ak_mock_001")).toBe("ak_mock_001");
});

test("the headers and the body of a response are masked", async () => {
  const respond = async () => ({
    status: 200,
    headers: { location: `/v1/${key}`, "set-cookie": [`a=${key}`, "b=1"], date: "today" },
    body: Buffer.from(`{"name":"${key}"}`),
    error: null,
  });
  const request = {
    method: "GET",
    url: new URL("http://127.0.0.1/"),
    headers: { authorization: `Bearer ${key}` },
  };
  const { headers, body } = await withoutKey()(respond as never)(request as never);
  expect(headers).toEqual({ location: `/v1/${masked}`, "set-cookie": [`a=${masked}`, "b=1"], date: "today" });
  expect(Buffer.from(body).toString()).toBe(`{"name":"${masked}"}`);
});
