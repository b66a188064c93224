import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { describe, expect } from "vitest";
import { longTest } from "../../support/long-test.ts";
import { catProgram, needsBuild } from "../../support/spawn-cat.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { bombs } from "./bombs.ts";

const printPeak = fileURLToPath(new URL("../../../bench/print-peak.js", import.meta.url));

describe("a small workbook with a GB of one thing exits with 3, within 200 MB and 20 s of the processor:", () => {
  longTest.concurrent.each(Object.entries(bombs))("%s", async (_, bytes) => {
    needsBuild();
    const folder = temporaryFolder();
    writeFileSync(join(folder, "a.xlsx"), bytes());
    const { exitCode, stdout, stderr } = await execa(
      process.execPath,
      ["--import", printPeak, catProgram, "import", "a.xlsx", "--dry-run", "--mock", "--no-progress"],
      { cwd: folder, reject: false, input: "", env: { CAT_HOME: folder } },
    );
    const [, peak, cpuMs] = /^peak (\d+) cpu (\d+) /m.exec(stdout)?.map(Number) ?? [];
    expect(exitCode, stderr).toBe(3);
    expect(stderr).toMatch(/^(?:a\.xlsx:.*\n)*error: .*\n.*$/);
    expect(peak).toBeLessThan(200);
    expect(cpuMs).toBeLessThan(20_000);
  });
});
