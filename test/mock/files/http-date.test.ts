import { expect, test } from "vitest";
import { httpDate } from "../../../src/mock/files/stored-file.ts";

const now = Date.UTC(2026, 0, 5);

test.each([
  ["Sun, 06 Nov 1994 08:49:37 GMT", "1994-11-06T08:49:37.000Z"],
  ["Sunday, 06-Nov-94 08:49:37 GMT", "1994-11-06T08:49:37.000Z"],
  ["Sun Nov  6 08:49:37 1994", "1994-11-06T08:49:37.000Z"],
  ["Wed Nov 16 08:49:37 1994", "1994-11-16T08:49:37.000Z"],
  ["Thu, 29 Feb 2024 23:59:60 GMT", "2024-03-01T00:00:00.000Z"],
  ["Mon, 01 Jan 0001 00:00:00 GMT", "0001-01-01T00:00:00.000Z"],
  // At most fifty years ahead, otherwise in the previous century (RFC 9110, 5.6.7).
  ["Monday, 06-Jan-76 00:00:00 GMT", "2076-01-06T00:00:00.000Z"],
  ["Monday, 06-Jan-77 00:00:00 GMT", "1977-01-06T00:00:00.000Z"],
])("parses %s", (text, date) => {
  expect(new Date(httpDate(text, now)!).toISOString()).toBe(date);
});

test.each([
  "",
  "1",
  "garbage",
  "2001-01-01T00:00:00Z",
  "Xyz, 99 Foo 2026 99:99:99 GMT",
  "Fri, 31 Feb 2030 00:00:00 GMT",
  "Thu, 29 Feb 2023 00:00:00 GMT",
  "Fri, 00 Jan 2099 00:00:00 GMT",
  "Fri, 99 Jan 2099 00:00:00 GMT",
  "Fri, 01 Jan 2099 24:00:00 GMT",
  "Fri, 01 Jan 2099 00:60:00 GMT",
  "Fri, 01 Jan 2099 00:00:61 GMT",
  "Fri, 01 Jan 2099 00:00:00",
  "fri, 01 jan 2099 00:00:00 gmt",
])("rejects %s", (text) => {
  expect(httpDate(text, now)).toBeNull();
});
