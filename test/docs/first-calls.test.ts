import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { expect, onTestFinished } from "vitest";
import { longTest } from "../support/long-test.ts";
import { catProgram, needsBuild } from "../support/spawn-cat.ts";

const script = fileURLToPath(new URL("../../docs/first-calls.py", import.meta.url));

/** The real program as a server in a separate process. */
async function serve(...flags: string[]) {
  needsBuild();
  const args = [catProgram, "serve", "--mock", "--json", "--port", "0", ...flags];
  const served = execa(process.execPath, args, {
    reject: false,
    extendEnv: false,
    env: { PATH: process.env.PATH ?? "" },
  });
  onTestFinished(() => void served.kill("SIGKILL"));
  const line = (await createInterface(served.stdout)[Symbol.asyncIterator]().next()).value as string;
  const stop = async () => {
    served.kill("SIGTERM");
    const { exitCode, stdout, stderr } = await served;
    return { exitCode, stdout, stderr };
  };
  return { line, ...(JSON.parse(line) as { base_url: string; api_key: string }), stop };
}

const versionOf = async (program: string) =>
  (await execa(program, ["--version"], { reject: false })).exitCode;
const hasPython = (await versionOf("python3")) === 0;
const hasCurl = (await versionOf("curl")) === 0;

longTest("docs/first-calls.py imports a product and finds it again", async ({ skip }) => {
  if (!hasPython) skip("python3 is not on this machine");
  const { line, base_url, api_key, stop } = await serve("--speed", "1000");
  const ran = await execa("python3", [script], {
    reject: false,
    env: { CAT_BASE_URL: base_url, CAT_API_KEY: api_key, no_proxy: "*" },
  });
  expect({ exit: ran.exitCode, stdout: ran.stdout, stderr: ran.stderr }).toEqual({
    exit: 0,
    stdout: "completed DRESS-PY A dress",
    stderr: "",
  });
  expect(await stop()).toEqual({ exitCode: 143, stdout: line, stderr: "" });
});

longTest("docs/first-calls.py has ten lines and needs no package", () => {
  const lines = readFileSync(script, "utf8").trimEnd().split("\n");
  expect(lines.filter((line) => !line.startsWith("#"))).toHaveLength(10);
  expect(lines.filter((line) => /\bimport\b/.test(line) && !line.startsWith("#"))).toEqual([
    "import json, os, time, urllib.request",
  ]);
});

longTest("curl reads the products and the OpenAPI document", async ({ skip }) => {
  if (!hasCurl) skip("curl is not on this machine");
  const { base_url, api_key, stop } = await serve("--demo", "2");
  const curl = async (...args: string[]) =>
    JSON.parse((await execa("curl", ["-sS", "--noproxy", "*", ...args])).stdout);
  const listed = await curl("-H", `Authorization: Bearer ${api_key}`, `${base_url}/v1/products`);
  expect(listed).toMatchObject({ data: [{}, {}], next_cursor: null, has_more: false });
  expect(await curl(`${base_url}/openapi.json`)).toMatchObject({
    openapi: "3.1.0",
    servers: [{ url: base_url }],
  });
  await stop();
});
