import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { spawnCat } from "../support/spawn-cat.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** The ID of a user without rights, who exists on every system. */
const nobody = 65_534;

test.runIf(process.getuid?.() === 0).each([
  ["cannot be read", 0o700, "{}", "permission denied"],
  ["has a file that is not valid", 0o755, "{", "it is not valid JSON"],
])(
  "no command advises to move a file out of a folder of another user that %s (needs root)",
  async (_, mode, config, why) => {
    const home = join(temporaryFolder(), "home");
    mkdirSync(home);
    writeFileSync(join(home, "config.json"), config);
    chmodSync(join(home, ".."), 0o755);
    chmodSync(home, mode);
    const { exitCode, stderr } = await spawnCat(["whoami"], {
      env: { CAT_HOME: home, HOME: "/" },
      uid: nobody,
    });
    expect([exitCode, stderr]).toEqual([
      2,
      `error: cannot read the config file ${home}/config.json: ${why}\nSet CAT_HOME to a folder of your own, or make this one yours: sudo chown -R "$USER" ${home}\n`,
    ]);
  },
);
