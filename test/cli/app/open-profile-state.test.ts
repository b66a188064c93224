import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openProfileState, openStateFile } from "../../../src/cli/app/open-profile-state.ts";
import { exitCodeOf } from "../../../src/cli/context/exit.ts";
import { systemClock } from "../../../src/clock.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

/** Someone in a folder of their own, with some flags and an environment. */
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

/** The path of the state that is opened. */
async function pathOf(...asked: Parameters<typeof asker>): Promise<string | null> {
  const state = await openProfileState(asker(...asked));
  state.close();
  return state.path;
}

test("each profile has a file: that of the flag, of the environment, the active one, or the default", async () => {
  const folder = temporaryFolder();
  const home = join(folder, "home");
  const env = { CAT_HOME: home };
  expect(await pathOf(folder, env)).toBe(join(home, "state", "default.db"));
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, "config.json"), JSON.stringify({ active: "shop", profiles: { shop: {} } }));
  expect(await pathOf(folder, env)).toBe(join(home, "state", "shop.db"));
  expect(await pathOf(folder, { ...env, CAT_PROFILE: "ci" })).toBe(join(home, "state", "ci.db"));
  expect(await pathOf(folder, { ...env, CAT_PROFILE: "ci" }, { profile: "../x" })).toBe(
    join(home, "state", "%2e%2e%2fx.db"),
  );
  expect(await pathOf(folder, { CAT_HOME: "home", CAT_PROFILE: "ci" })).toBe(join(home, "state", "ci.db"));
  expect(readdirSync(join(home, "state"))).toEqual(["%2e%2e%2fx.db", "ci.db", "default.db", "shop.db"]);
});

test("a config file that is broken does not matter when it is not asked", async () => {
  const home = temporaryFolder();
  writeFileSync(join(home, "config.json"), "{");
  expect(await pathOf(home, { CAT_HOME: home }, { profile: "ci" })).toBe(join(home, "state", "ci.db"));
  await expect(pathOf(home, { CAT_HOME: home })).rejects.toMatchObject({ code: "invalid_config" });
});

test("with --mock nothing is written", async () => {
  const home = temporaryFolder();
  expect(await pathOf(home, { CAT_HOME: home }, { mock: true })).toBe(null);
  expect(readdirSync(home)).toEqual([]);
});

test("a ledger of one's own stands where it was named, in a folder that is left as it is", async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "ci"), { mode: 0o755 });
  const state = await openStateFile(asker(folder, {}), "ci/ledger.db");
  state.close();
  expect(state.path).toBe(join(folder, "ci", "ledger.db"));
  expect(readdirSync(join(folder, "ci"))).toEqual(["ledger.db"]);
  expect(statSync(join(folder, "ci")).mode & 0o777).toBe(0o755);
  const refused = await openStateFile(asker(folder, {}), "none/ledger.db").catch((error) => error);
  expect(refused).toMatchObject({ code: "state_not_writable" });
  expect(exitCodeOf(refused)).toBe(2);
});

test("a file that is no ledger is refused as one that was named by mistake, and an emptied one as damaged", async () => {
  const folder = temporaryFolder();
  const refusal = async (text: string) => {
    writeFileSync(join(folder, "s.csv"), text);
    const error = await openStateFile(asker(folder, {}), "s.csv").catch((thrown) => thrown);
    expect(exitCodeOf(error)).toBe(2);
    expect(readFileSync(join(folder, "s.csv"), "utf8")).toBe(text);
    return [error.message.replace(folder, "."), error.hint];
  };
  for (const text of ["reference,name\n", "reference,name\n".repeat(1000)]) {
    expect(await refusal(text)).toEqual([
      "the file ./s.csv is not a ledger: this program did not write it",
      "Name another file with --ledger; if it was a ledger once, put a copy of it back.",
    ]);
  }
  expect(await refusal("")).toEqual([
    "the state file ./s.csv is damaged, or was not written by this program (it is empty)",
    expect.stringMatching(/^Put a copy of it back, or move it away .* adds its photos a second time\.$/),
  ]);
});
