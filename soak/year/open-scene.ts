import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { startMock } from "../../src/mock/index.ts";
import { Random } from "../../src/mock/seed/seed.ts";
import { memoryFolder } from "../../test/support/memory-folder.ts";
import { startObjectStore } from "../../test/support/object-store.ts";
import { TestClock } from "../../test/support/test-clock.ts";
import { startCredits } from "./check.ts";
import { Machine, type ProcessUse, type Site } from "./machine.ts";
import { putKey } from "./night.ts";
import type { Program } from "./programs.ts";
import type { Scene } from "./scene.ts";
import { Photos, Sheet } from "./sheet.ts";
import { Shop } from "./shop.ts";

/** What the nights took since it was read last. */
interface Use {
  requests: number;
  processes: ProcessUse[];
}

export interface OpenScene {
  readonly scene: Scene;
  readonly takeUse: () => Use;
  readonly close: () => Promise<void>;
}

/** A service, a store of objects, and the machines of a shop, in a folder of its own. */
export async function openScene(
  { seed, products, program }: { seed: string; products: number; program: Program },
  start: number,
): Promise<OpenScene> {
  const root = mkdtempSync(join(memoryFolder(), "catalogue-soak-"));
  const clock = new TestClock({ frozenAt: start });
  const random = Random.from(`year soak ${seed}`);
  let use: Use = { requests: 0, processes: [] };
  const mock = await startMock({
    ...{ clock, seed: random.below(1e6), speed: 25 },
    onRequest() {
      use.requests++;
      site.onRequest?.();
    },
  });
  const store = await startObjectStore(() => clock.now(), 1_000);
  const site: Site = {
    clock,
    program,
    env: {
      ...{ CAT_BASE_URL: mock.baseUrl, AWS_ACCESS_KEY_ID: "AK", AWS_SECRET_ACCESS_KEY: "SK" },
      ...{ AWS_ENDPOINT_URL_S3: store.origin, AWS_REGION: "us-east-1", PATH: process.env.PATH ?? "" },
      ...{ AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: "true" },
    },
    onProcess: (one) => use.processes.push(one),
    onRequest: null,
  };
  mock.credits = startCredits;
  const machine = (name: string) => new Machine(site, root, name);
  const machines = {
    ...{ server: machine("server"), ann: machine("ann"), ben: machine("ben"), hooks: machine("hooks") },
  };
  for (const { key } of Object.values(machines)) await putKey({ mock }, key, {});
  const photos = new Photos();
  const scene: Scene = {
    ...{ seed, random, clock, site, mock, store, ...machines, hooksPort: 0, photos },
    ...{ sheet: new Sheet(random, photos, products), shop: new Shop() },
    ...{ conflicts: random.pick(["service", "sheet"] as const), counts: {}, bens: new Set() },
    ...{ polls: [], leftByEarlier: new Set() },
  };
  return {
    scene,
    takeUse() {
      const taken = use;
      use = { requests: 0, processes: [] };
      return taken;
    },
    async close() {
      await mock.stop();
      store.stop();
      rmSync(root, { recursive: true, force: true });
    },
  };
}
