import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { keyMask, withoutKey } from "../../src/http/without-key.ts";

const key = "ak_live_0123/45+789abcdefWXYZ";
const masked = "ak_…WXYZ";
const mask = keyMask(key);

describe("a key in a text of the service is masked", () => {
  test.for([
    ["as is", key],
    ["with JSON escapes of other writers", key.replaceAll("/", "\\/")],
    ["with each character escaped", [...key].map((one) => `\\u00${one.charCodeAt(0).toString(16)}`).join("")],
    ["with escapes in upper case", key.replaceAll("/", "\\u002F")],
    ["in a URL", encodeURIComponent(key)],
    ["in a URL that encodes more", key.replaceAll("_", "%5F")],
    [
      "in a URL that encodes each character",
      [...key].map((one) => `%${one.charCodeAt(0).toString(16)}`).join(""),
    ],
  ])("%s", ([, form]) => {
    const text = `{"name":"Käse 日本 ${form}!","other":"${form}"}`;
    const without = `{"name":"Käse 日本 ${masked}!","other":"${masked}"}`;
    expect(mask.text(text)).toBe(without);
    expect(Buffer.from(mask.bytes(Buffer.from(text))).toString()).toBe(without);
  });

  test("and everything else stays, byte by byte", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 50 }), fc.uint8Array({ maxLength: 50 }), (before, after) => {
        const bytes = (middle: string) => Buffer.concat([before, Buffer.from(middle), after]);
        expect(mask.bytes(bytes(key))).toEqual(bytes(masked));
        expect(Buffer.from(mask.bytes(bytes("ak_live_other")))).toEqual(bytes("ak_live_other"));
      }),
    );
  });
});

test.for(["ak_dress_001", "AK_LIVE_0123/45+789ABCDEFWXYZ", "ak_live_0123/45+789abcdefWXY"])(
  "%s is not masked: it is another text",
  (text) => expect(mask.text(text)).toBe(text),
);

test("a key of less than eight characters, such as that of the mock, is not masked", () => {
  expect(keyMask("ak_mock").text("ak_mock_001")).toBe("ak_mock_001");
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
