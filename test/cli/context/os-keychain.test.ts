import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { execa } from "execa";
import { describe, expect, onTestFinished } from "vitest";
import { osKeychain } from "../../../src/cli/context/os-keychain.ts";
import { systemClock } from "../../../src/clock.ts";
import { longTest } from "../../support/long-test.ts";
import { catProgram, needsBuild } from "../../support/spawn-cat.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { createWorld } from "../../support/world.ts";

const has = (program: string) => spawnSync(program, ["--version"], { stdio: "ignore" }).error === undefined;
const isHere = process.platform === "linux" && has("dbus-run-session") && has("gnome-keyring-daemon");

/** Runs a shell script in a session of its own with GNOME's keychain, unlocked or locked. */
async function inSession(script: string, { env = {}, unlocked = true, input = "" } = {}) {
  needsBuild();
  const home = temporaryFolder();
  mkdirSync(join(home, "run"), { mode: 0o700 });
  const start = unlocked
    ? "printf pw | gnome-keyring-daemon --unlock --components=secrets >/dev/null 2>&1; "
    : "";
  return execa("dbus-run-session", ["--", "sh", "-c", start + script], {
    reject: false,
    extendEnv: false,
    input,
    timeout: 60_000,
    env: {
      PATH: process.env.PATH ?? "",
      HOME: home,
      XDG_RUNTIME_DIR: join(home, "run"),
      CAT_HOME: join(home, "settings"),
      CAT: `${process.execPath} ${catProgram}`,
      ...env,
    },
  });
}

describe.runIf(isHere)(
  "the keychain of the system (skipped without: apt-get install dbus gnome-keyring)",
  () => {
    longTest("keeps the key of a login until the logout", async () => {
      const { mock } = await createWorld({ mock: { demo: 1 } });
      const ran = await inSession(
        "$CAT login --with-key; $CAT whoami --json; cat $CAT_HOME/config.json | grep -c ak_mock; $CAT logout; $CAT whoami; echo $?",
        { env: { CAT_BASE_URL: mock.baseUrl }, input: "ak_mock\n" },
      );
      const lines = ran.stdout.split("\n");
      expect(JSON.parse(lines[0]!)).toMatchObject({ key_source: "the keychain", products_read: true });
      expect(lines.slice(1)).toEqual(["0", "4"]);
      expect(ran.stderr).toContain("The key ak_… is in the keychain.\n");
      expect(ran.stderr).toContain("Removed the key of profile default.\n");
    });

    longTest("stores nothing in an empty session without a collection", async () => {
      const { mock } = await createWorld();
      const ran = await inSession("$CAT login --with-key; echo $?; ls -A $CAT_HOME", {
        env: { CAT_BASE_URL: mock.baseUrl },
        unlocked: false,
        input: "ak_mock\n",
      });
      expect(ran.stdout).toBe("4");
      expect(ran.stderr).toContain("error: cannot use the keychain: ");
    });
  },
);

longTest.runIf(process.platform === "linux")(
  "a session that does not respond ends the request, also where the library blocks its process",
  async () => {
    const path = join(temporaryFolder(), "bus");
    const server = createServer(() => {});
    await new Promise<void>((resolve) => server.listen(path, resolve));
    onTestFinished(() => void server.close());
    // A clock that is 3 s on as soon as the request waits.
    const clock = { ...systemClock(), sleep: async () => {} };
    const env = { PATH: process.env.PATH, DBUS_SESSION_BUS_ADDRESS: `unix:path=${path}` };
    const keychain = osKeychain({ clock, env, node: process.execPath });
    await expect(keychain.read("a")).rejects.toThrow(
      "cannot use the keychain: no response within 3 s; it may be locked",
    );
  },
);

longTest("the child gets no secret in its arguments or its environment, and no code of others", async () => {
  const folder = temporaryFolder();
  const node = join(folder, "node");
  const seen = join(folder, "seen");
  writeFileSync(node, `#!/bin/sh\n{ env; echo "$@"; } > ${seen}\necho '{"key":null}'\n`, { mode: 0o755 });
  const env = { PATH: process.env.PATH, CAT_API_KEY: "ak_canary", CAT_WEBHOOK_SECRET: "whsec_canary" };
  const code = { NODE_OPTIONS: "--require /canary.js", NODE_COMPILE_CACHE: "/canary" };
  const keychain = osKeychain({ clock: systemClock(), env: { ...env, ...code }, node });
  await keychain.write("default", "ak_canary_2");
  expect(readFileSync(seen, "utf8")).toContain("default");
  expect(readFileSync(seen, "utf8")).not.toContain("canary");
});
