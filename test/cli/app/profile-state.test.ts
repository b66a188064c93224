import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openProfileState, openStateFile } from "../../../src/cli/app/profile-state.ts";
import { toExitCode } from "../../../src/cli/context/errors.ts";
import { systemClock } from "../../../src/clock.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

/** A user in an empty folder, with flags and an environment. */
function asker(
  folder: string,
  env: Record<string, string>,
  globals: { profile?: string; mock?: boolean } = {},
) {
  return {
    context: { clock: systemClock(), cwd: folder, env },
    globals: { mock: globals.mock ?? false, profile: globals.profile },
  };
}

/** The path of the opened state. */
async function pathOf(...asked: Parameters<typeof asker>): Promise<string | null> {
  const state = await openProfileState(asker(...asked));
  state.close();
  return state.path;
}

test("a command opens the state of the profile from the flag, the environment, the config file, or the default", async () => {
  const folder = temporaryFolder();
  const home = join(folder, "home");
  const env = { CAT_HOME: home };
  expect(await pathOf(folder, env)).toBe(join(home, "state", "default.db"));
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, "config.json"), JSON.stringify({ active: "shop", profiles: { shop: {} } }));
  expect(await pathOf(folder, env)).toBe(join(home, "state", "shop.db"));
  expect(await pathOf(folder, { ...env, CAT_PROFILE: "ci" })).toBe(join(home, "state", "ci.db"));
  expect(await pathOf(folder, { ...env, CAT_PROFILE: "ci" }, { profile: "Shop.2" })).toBe(
    join(home, "state", "%53hop%2e2.db"),
  );
  expect(await pathOf(folder, { CAT_HOME: `${folder}/./home/`, CAT_PROFILE: "ci" })).toBe(
    join(home, "state", "ci.db"),
  );
  expect(readdirSync(join(home, "state"))).toEqual(["%53hop%2e2.db", "ci.db", "default.db", "shop.db"]);
});

test("a command ignores a broken config file if a flag or a variable names the profile", async () => {
  const home = temporaryFolder();
  writeFileSync(join(home, "config.json"), "{");
  expect(await pathOf(home, { CAT_HOME: home }, { profile: "ci" })).toBe(join(home, "state", "ci.db"));
  await expect(pathOf(home, { CAT_HOME: home })).rejects.toMatchObject({ code: "invalid_config" });
});

test("a command writes no file with --mock", async () => {
  const home = temporaryFolder();
  expect(await pathOf(home, { CAT_HOME: home }, { mock: true })).toBe(null);
  expect(readdirSync(home)).toEqual([]);
});

test("a command opens a --ledger file at its path, without changes to the folder", async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "ci"), { mode: 0o755 });
  const state = await openStateFile(asker(folder, {}), "ci/ledger.db");
  state.close();
  expect(state.path).toBe(join(folder, "ci", "ledger.db"));
  expect(readdirSync(join(folder, "ci"))).toEqual(["ledger.db"]);
  expect(statSync(join(folder, "ci")).mode & 0o777).toBe(0o755);
  const refused = await openStateFile(asker(folder, {}), "none/ledger.db").catch((error) => error);
  expect(refused).toMatchObject({ code: "state_not_writable" });
  expect(toExitCode(refused)).toBe(2);
});

test("a command rejects a file that is not a ledger, and an emptied one as damaged", async () => {
  const folder = temporaryFolder();
  const refusal = async (text: string) => {
    writeFileSync(join(folder, "s.csv"), text);
    const error = await openStateFile(asker(folder, {}), "s.csv").catch((thrown) => thrown);
    expect(toExitCode(error)).toBe(2);
    expect(readFileSync(join(folder, "s.csv"), "utf8")).toBe(text);
    return [error.message.replace(folder, "."), error.hint];
  };
  for (const text of ["reference,name\n", "reference,name\n".repeat(1000)]) {
    expect(await refusal(text)).toEqual([
      "the file ./s.csv is not a ledger of this program",
      "Use another --ledger FILE. If this file was a ledger, restore a copy of it.",
    ]);
  }
  expect(await refusal("")).toEqual([
    "the state file ./s.csv is damaged, or was not written by this program (it is empty)",
    expect.stringMatching(/^Restore a copy of it, or move it elsewhere .* adds its photos a second time\.$/),
  ]);
});
