import { existsSync, readdirSync } from "node:fs";
import { execa } from "execa";
import { expect } from "vitest";
import { longTest } from "../../support/long-test.ts";
import { catProgram, needsBuild, spawnCat } from "../../support/spawn-cat.ts";
import { until } from "../../support/until.ts";
import { syncWorld } from "./sync-world.ts";

/** The numbers of images after which the program is killed. */
const killsAfter = [1, 9, 20];

longTest(
  "a mirror that was killed with kill -9 is resumed, and becomes what an uninterrupted one is",
  async () => {
    needsBuild();
    const world = await syncWorld({ mock: { demo: 24 } });
    const env = {
      CAT_BASE_URL: world.mock.baseUrl,
      CAT_API_KEY: world.mock.apiKey,
      CAT_HOME: world.at(".home-2"),
      PATH: process.env.PATH ?? "",
    };
    const images = (): number =>
      existsSync(world.at("images"))
        ? readdirSync(world.at("images")).filter((name) => /^\w.*\.\w+$/.test(name)).length
        : 0;
    for (const count of killsAfter) {
      const child = execa(process.execPath, [catProgram, "export", "sync", "images", "--concurrency", "2"], {
        ...{ cwd: world.folder, env, extendEnv: false, reject: false },
      });
      // The mock runs in this process: it draws no image between two looks.
      await until(() => images() >= count || child.exitCode !== null, { pauseMs: 1 });
      child.kill("SIGKILL");
      expect((await child).signal).toBe("SIGKILL");
    }
    const named = images();
    world.traffic();
    const last = await spawnCat(["export", "sync", "images", "--json"], { cwd: world.folder, env });
    expect(last).toMatchObject({ exitCode: 0, stderr: "" });
    const { total, added, unchanged } = JSON.parse(last.stdout);
    expect(added + unchanged).toBe(total);
    // What had its name is not downloaded again, and nothing twice.
    expect(named).toBeGreaterThanOrEqual(killsAfter.at(-1)!);
    expect(unchanged).toBeGreaterThanOrEqual(named);
    expect(world.traffic().images).toBe(added);
    expect(readdirSync(world.at("images/.catalogue-sync/all")).sort()).toEqual([
      "index.db",
      "lock",
      "parts",
      "state.json",
    ]);
    expect(readdirSync(world.at("images/.catalogue-sync/all/parts"))).toEqual([]);
    await world.cat("export sync fresh");
    expect(world.tree("images")).toEqual(world.tree("fresh"));
  },
);
