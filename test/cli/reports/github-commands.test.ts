import { expect, test } from "vitest";
import { createWorld } from "../../support/world.ts";

const url = "https://cdn.example.com";
const hostile = "::add-mask::1";

/** A product whose reference and description GitHub would carry out. */
async function hostileShop(GITHUB_ACTIONS: string | undefined = "true") {
  const world = await createWorld({ env: { GITHUB_ACTIONS } });
  const row = { reference: hostile, name: "a\n::error::x ##[error]y", images: [{ url: `${url}/1.jpg` }] };
  world.write("a.ndjson", `${JSON.stringify(row)}\n`);
  expect((await world.cat("import a.ndjson", { env: { GITHUB_ACTIONS: undefined } })).exit).toBe(0);
  return world;
}

const carriedOut = /^\s*::|##\[/m;

test.each(["products list", "products list --fields reference,name", "products coverage"])(
  "GitHub carries out no line of a table: %s",
  async (line) => {
    const world = await hostileShop();
    const { exit, stdout, stderr } = await world.cat(line);
    expect([exit, stderr]).toEqual([0, line.endsWith("coverage") ? stderr : ""]);
    expect(stdout).toContain("\\x3a:add-mask::1");
    expect(stdout).not.toMatch(carriedOut);
  },
);

test("outside of GitHub a table is as it is", async () => {
  const world = await hostileShop("");
  expect((await world.cat("products list --fields reference")).stdout).toBe(`reference\n${hostile}\n`);
});

test.each(["products list --format csv --fields reference,name", "products export -", "export --format csv"])(
  "CSV stays as it is in a log of GitHub, and one note says how to stop commands: %s",
  async (line) => {
    const world = await hostileShop();
    const { exit, stdout, stderr } = await world.cat(line);
    expect(exit).toBe(0);
    expect(stdout).toContain("::error::x ##[error]y");
    expect(stderr.match(/::stop-commands::TOKEN/g)).toHaveLength(1);
    const elsewhere = await world.cat(line, { env: { GITHUB_ACTIONS: "" } });
    expect(elsewhere.stderr).not.toContain("stop-commands");
  },
);

test("JSON has the same values in a log of GitHub, without commands, and gets no note", async () => {
  const world = await hostileShop();
  const { stdout, stderr } = await world.cat("products list --json");
  expect(stderr).toBe("");
  expect(stdout).not.toMatch(carriedOut);
  const elsewhere = await world.cat("products list --json", { env: { GITHUB_ACTIONS: "" } });
  expect(elsewhere.stdout).toMatch(carriedOut);
  expect(JSON.parse(stdout)).toEqual(JSON.parse(elsewhere.stdout));
});

test.each(["", " --json"])("GitHub carries out nothing of an error: %s", async (flag) => {
  const world = await hostileShop();
  for (const line of ["products get ##[error]z", "import ##[error]f.csv"]) {
    const { exit, stdout, stderr } = await world.cat(line + flag);
    expect([line, exit, stdout]).toEqual([line, line.startsWith("import") ? 2 : 5, ""]);
    expect(stderr).toContain(flag === "" ? "#\\x23[error]" : "#\\u0023[error]");
    // The annotation is meant as a command.
    expect(stderr.replace(/^::error::.*\n/gm, "")).not.toMatch(carriedOut);
    if (flag !== "") expect(JSON.parse(stderr).error.message).toContain("##[error]");
  }
});
