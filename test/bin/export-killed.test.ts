import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { expect } from "vitest";
import { catalogueServer, rowOf } from "../flows/export/live/catalogue-server.ts";
import { longTest } from "../support/long-test.ts";
import { catProgram, needsBuild } from "../support/spawn-cat.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

longTest.for(["SIGKILL", "SIGTERM"] as NodeJS.Signals[])(
  "an export stopped by %s keeps the old file, and the next one leaves only the new file",
  async (signal) => {
    needsBuild();
    const folder = temporaryFolder();
    let hangs = true;
    const rows = Array.from({ length: 250 }, (_, index) => rowOf(250 - index));
    let reached = () => {};
    const second = new Promise<void>((resolve) => {
      reached = resolve;
    });
    const service = await catalogueServer(rows, {
      respond: ({ searchParams }) => {
        if (!hangs || !searchParams.has("cursor")) return undefined;
        reached();
        return { hangs };
      },
    });
    const env = { CAT_BASE_URL: service.baseUrl, CAT_API_KEY: "ak_test", CAT_HOME: join(folder, ".home") };
    const start = (...more: string[]) =>
      execa(process.execPath, [catProgram, "export", "--out", "a.ndjson", "--since", "last", ...more], {
        ...{ cwd: folder, env, stdin: "ignore", reject: false },
      });
    const files = () => readdirSync(folder).filter((name) => name !== ".home");
    writeFileSync(join(folder, "a.ndjson"), "old\n");

    const stopped = start("--yes");
    // The first page is being written when the second is requested.
    await second;
    stopped.kill(signal);
    expect((await stopped).exitCode).toBe(signal === "SIGTERM" ? 143 : undefined);
    expect(readFileSync(join(folder, "a.ndjson"), "utf8")).toBe("old\n");
    expect(files()).toHaveLength(signal === "SIGKILL" ? 2 : 1);

    hangs = false;
    const again = await start("--yes");
    expect(again.exitCode).toBe(0);
    expect(again.stderr).toContain("exporting everything.");
    const written = readFileSync(join(folder, "a.ndjson"), "utf8");
    expect(written).toBe(rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
    expect(files()).toEqual(["a.ndjson"]);
  },
);
