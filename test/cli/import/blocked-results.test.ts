import { describe, expect, test } from "vitest";
import type { FaultOrder } from "../../../src/mock/faults/fault-order.ts";
import { longTest } from "../../support/long-test.ts";
import { sampled } from "../../support/repetitions.ts";
import { createWorld, type TestWorld } from "../../support/world.ts";

const cdn = "https://cdn.example.com";
const head = "reference,name,images\n";
const two = `${head}OK,Dress,${cdn}/1.jpg\nBAD,Coat,${cdn}/fail-timeout.jpg\n`;
const good = `${head}A,Dress,${cdn}/1.jpg\nB,Coat,${cdn}/2.jpg\n`;

/** The storage behind signed URLs cannot be reached, whatever the URL. */
const blocked: FaultOrder = { match: { path: "/_signed" }, status: 403 };

async function order(world: TestWorld, ...faults: FaultOrder[]): Promise<void> {
  await fetch(`${world.mock.baseUrl}/_mock/faults`, { method: "DELETE" });
  for (const fault of faults) {
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify(fault);
    const { ok } = await fetch(`${world.mock.baseUrl}/_mock/faults`, { method: "POST", headers, body });
    expect(ok).toBe(true);
  }
}

const asked = (world: TestWorld, start: string): number =>
  world.requests().filter(({ method, path }) => `${method} ${path}`.startsWith(start)).length;
const sent = (world: TestWorld): number => asked(world, "POST /v1/imports");

/** Imports 101 rows, of which one fails, and the same file again; returns everything that users see. */
async function twice(fault?: FaultOrder) {
  const world = await createWorld();
  if (fault !== undefined) await order(world, fault);
  const more = Array.from({ length: 99 }, (_, index) => `R-${index},Dress,${cdn}/1.jpg\n`).join("");
  world.write("a.csv", two + more);
  const ran = await world.cat("import a.csv --json --no-progress --results r.ndjson");
  const { run_id: _run, duration_ms: _ms, ...summary } = JSON.parse(ran.stdout);
  const files = [world.read("r.ndjson"), world.read("a.failed.csv")];
  world.write("a.csv", (two + more).replace("fail-timeout", "2"));
  const again = await world.cat("import a.csv --json --no-progress");
  const { succeeded, unchanged, created } = JSON.parse(again.stdout);
  const photos = world.products().map(({ reference, images }) => `${reference} ${images.length}`);
  return {
    world,
    told: {
      exit: ran.exit,
      summary,
      files,
      again: { exit: again.exit, succeeded, unchanged, created },
      photos,
    },
  };
}

describe("an import whose results URL cannot be reached", () => {
  test.each<[string, Omit<FaultOrder, "match">]>(
    sampled(
      [
        ["refused", { status: 403 }],
        ["cut in the middle of the file", { truncate: 100 }],
      ],
      1,
    ),
  )("finishes as usual: %s", async (_, fault) => {
    const { told } = await twice();
    expect(told).toMatchObject({
      exit: 8,
      summary: { total: 101, succeeded: 100, failed: 1, results_rows: 101 },
      // Nothing is sent but the row that failed.
      again: { exit: 0, succeeded: 1, unchanged: 100, created: 1 },
    });
    const met = await twice({ ...blocked, status: undefined, ...fault });
    expect(met.told).toEqual(told);
    const lists = met.world.requests().filter(({ path }) => path.includes("/rows"));
    expect(lists.map(({ path }) => path.replace(/[0-9A-Z]{26}|(?<=cursor=).*/g, "*"))).toEqual([
      ...["/v1/imports/*/rows?limit=100", "/v1/imports/*/rows?limit=100&cursor=*"],
      "/v1/imports/*/rows?limit=100",
    ]);
  });

  test("is reported and resumed by the same command, if its rows cannot be listed either", async () => {
    const world = await createWorld();
    world.write("a.csv", good);
    const submitted = await world.cat("import a.csv --json --no-progress --no-wait");
    const [{ id }] = JSON.parse(submitted.stdout).imports;
    await order(world, blocked, { match: { path: `/v1/imports/${id}/rows` }, status: 500 });
    const ran = await world.cat("import a.csv --json --no-progress");
    expect(ran.exit).toBe(7);
    expect(JSON.parse(ran.stdout)).toMatchObject({
      succeeded: 0,
      failed: 0,
      failed_file: null,
      unread: [id],
    });
    expect(JSON.parse(ran.stderr).error).toMatchObject({ type: "signed_url", status: 403, exit: 7 });
    await order(world, blocked);
    const again = await world.cat("import a.csv --json --no-progress");
    expect(again.exit).toBe(0);
    expect(JSON.parse(again.stdout)).toMatchObject({
      succeeded: 2,
      created: 2,
      failed: 0,
      failed_file: null,
    });
    expect(sent(world)).toBe(1);
  });

  longTest("does not block other files", async () => {
    const world = await createWorld();
    world.write("a.csv", good);
    world.write("z.csv", `${head}B,Coat,${cdn}/2.jpg\nZ,Shoe,${cdn}/3.jpg\n`);
    await world.cat("import a.csv --no-progress --no-wait");
    await order(world, blocked);
    const other = await world.cat("import z.csv --json --no-progress");
    expect(other.exit).toBe(0);
    // The result of the other import is known.
    expect(JSON.parse(other.stdout)).toMatchObject({ total: 2, succeeded: 1, created: 1, unchanged: 1 });
    const own = await world.cat("import a.csv --json --no-progress");
    expect([own.exit, JSON.parse(own.stdout)]).toMatchObject([0, { total: 2, failed: 0 }]);
    expect(sent(world)).toBe(2);
    expect(world.products().map(({ reference, images }) => `${reference} ${images.length}`)).toEqual([
      ...["A 1", "B 1", "Z 1"],
    ]);
  });
});
