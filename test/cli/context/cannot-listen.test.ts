import { expect, test } from "vitest";
import { cannotListen } from "../../../src/cli/context/cannot-listen.ts";
import { CatError } from "../../../src/errors.ts";

const place = { port: 80, host: "127.0.0.1" };
const denied = { code: "EACCES", message: "cannot open a.ndjson: permission denied" };

test("a file that is denied is not reported as a port", () => {
  const ofLog = new CatError(denied.message, { type: "file", code: "EACCES" });
  expect(cannotListen(ofLog, place)).toBe(ofLog);
  const ofSystem = Object.assign(new Error("x"), { code: "EACCES", syscall: "open", path: "a.ndjson" });
  expect(cannotListen(ofSystem, place)).toMatchObject({ type: "file", message: denied.message });
});

test.each([
  new CatError("x", { type: "listen", code: "EACCES" }),
  Object.assign(new Error("x"), { code: "EACCES", syscall: "listen" }),
])("a port that is denied is reported as a port", (error) => {
  expect(cannotListen(error, place)).toMatchObject({
    message: "cannot use port 80: permission denied",
    param: "port",
  });
});
