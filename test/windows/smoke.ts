import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { installTable, rowWith } from "../package/install-table.ts";
import { fillForSmoke, smokeScript, works } from "../package/smoke.ts";
import { node, type Windows } from "./wine.ts";

/** The script that each package manager runs on Linux. */
export function smokeOnWindows(windows: () => Windows): void {
  test("the package writes each kind of file and starts the mock, which is what docs/install.md says", async () => {
    const folder = join(windows().shop, "smoke");
    mkdirSync(folder);
    await fillForSmoke(folder);
    const script = windows().script("smoke.mjs", readFileSync(smokeScript, "utf8"));
    const options = { cwd: "smoke", env: { CAT_HOME: String.raw`C:\shop\smoke-home` } };
    const { exit, stdout, stderr } = await windows().run([node, script], options);
    expect({ exit, stderr, lines: stdout.trimEnd().split("\n").sort() }).toEqual({
      ...{ exit: 0, stderr: "", lines: works },
    });
    const [, version = ""] = /^v(\d+\.\d+)\./.exec((await windows().run([node, "--version"])).stdout) ?? [];
    const row = installTable().get("Windows x64, in Wine | npm");
    expect(row).toEqual(rowWith(version, `✓ with ${version}`, "not tried"));
  });
}
