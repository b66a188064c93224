import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { longTest } from "../../support/long-test.ts";
import { until } from "../../support/until.ts";
import { serviceInFront } from "../every-command/service-in-front.ts";
import { frozenWorld, idsOf, summaryOf } from "./frozen-world.ts";

type World = Awaited<ReturnType<typeof frozenWorld>>;

const creating = { method: "POST", path: "/v1/exports" };
const noImages = "--role recoloring";
const names = (world: World) => world.jobs().map(({ products }) => products.length);

describe("the same command after", () => {
  test("a lost response follows the job that was created", async () => {
    const world = await frozenWorld();
    await world.fault({ match: creating, drop: "after", times: 20 });
    expect((await world.cat("export --manifest")).exit).toBe(7);
    await world.calm();
    const { exit, stderr } = await world.cat("export --manifest");
    expect([exit, stderr.split("\n")[0]]).toEqual([
      0,
      "Resuming the export started at 2026-01-05T09:00:00Z: 1 job created. To start over, add --fresh.",
    ]);
    expect(names(world)).toEqual([6]);
    expect(idsOf(world.read("catalogue.jsonl"))).toEqual(world.newestFirst());
  });

  test("more than 24 hours without a response creates a new job", async () => {
    const world = await frozenWorld();
    await world.fault({ match: creating, drop: "after", times: 20 });
    expect((await world.cat("export --manifest")).exit).toBe(7);
    await world.calm();
    await world.mock.clock.advance(25 * 3_600_000);
    expect((await world.cat("export --manifest")).exit).toBe(0);
    expect(names(world)).toEqual([6, 6]);
  });

  test("a key that the service has had with another body sends nothing a second time", async () => {
    const world = await frozenWorld();
    const front = await serviceInFront(world.mock.baseUrl);
    const error = { type: "invalid_request", code: "idempotency_key_reused", message: "used before" };
    let rejected = 0;
    front.change = (passing) => {
      if (passing.method !== "POST" || rejected === 20) return;
      rejected++;
      Object.assign(passing, { status: 422, json: { error } });
      passing.headers["idempotent-replayed"] = "true";
    };
    const ran = await world.cat("export --manifest", { env: { CAT_BASE_URL: front.origin } });
    expect(ran).toMatchObject({
      exit: 3,
      stderr: expect.stringContaining("Run the command again; it uses a new idempotency key."),
    });
    expect(rejected).toBe(1);
  });

  test("and creates the job with another key when it is run again", async () => {
    const world = await frozenWorld();
    const front = await serviceInFront(world.mock.baseUrl);
    const error = { type: "invalid_request", code: "idempotency_key_reused", message: "used before" };
    const seen: (string | undefined)[] = [];
    front.change = (passing) => {
      if (passing.method !== "POST") return;
      seen.push(passing.idempotencyKey);
      if (passing.idempotencyKey === seen[0]) Object.assign(passing, { status: 422, json: { error } });
    };
    const env = { CAT_BASE_URL: front.origin };
    expect((await world.cat("export --manifest", { env })).exit).toBe(3);
    expect((await world.cat("export --manifest", { env })).exit).toBe(0);
    expect(seen).toHaveLength(2);
    expect(new Set(seen).size).toBe(2);
    expect(idsOf(world.read("catalogue.jsonl"))).toEqual(world.newestFirst());
  });

  longTest("an interrupt resumes, and creates nothing again", async () => {
    const world = await frozenWorld({ demo: 1200 });
    await world.fault({ match: { path: "/_signed" }, status: 503 });
    const running = world.cat(`export --zip --out all.zip ${noImages}`);
    await until(() => world.requests().filter(({ path }) => path.startsWith("/_signed")).length >= 3);
    running.interrupt();
    const stopped = await running;
    expect([stopped.exit, stopped.stderr.split("\n").slice(-5)]).toEqual([
      130,
      [
        "Stopped: 3 of 3 export jobs completed.",
        "To resume, run the same command again (completed jobs are kept):",
        "  cat export --zip --out all.zip --role recoloring",
        "interrupted",
        "",
      ],
    ]);
    expect(world.exists("all-001.zip")).toBe(false);
    await world.calm();
    const { exit, stderr } = await world.cat(`export --zip --out all.zip ${noImages}`);
    expect([exit, stderr.split("\n").slice(0, 2)]).toEqual([
      0,
      [
        "Resuming the export started at 2026-01-05T09:00:00Z: 3 jobs created. To start over, add --fresh.",
        expect.stringMatching(/^Exported 1,200 products with 0 images to 3 files/),
      ],
    ]);
    expect([names(world), world.files()]).toEqual([
      [500, 500, 200],
      ["all-001.zip", "all-002.zip", "all-003.zip"],
    ]);
  });

  longTest("a timeout resumes", async () => {
    const world = await frozenWorld();
    const { exit, stderr } = await world.cat("export --zip --timeout 1s");
    expect([exit, stderr]).toEqual([
      7,
      "Stopped: 0 of 1 export job completed.\n" +
        "To resume, run the same command again (completed jobs are kept):\n  cat export --zip --timeout 1s\n" +
        "error: the export did not finish within 1 s\n" +
        "The service keeps processing what it accepted. To resume the rest, run the same command again.\n",
    ]);
    expect((await world.cat("export --zip")).exit).toBe(0);
    expect(names(world)).toEqual([6]);
  });

  longTest("a ZIP with fewer images than the service counted is kept, and exits with 8", async () => {
    const world = await frozenWorld();
    await world.cat("export --zip --timeout 1s");
    await world.countMore(2);
    const { exit, stderr } = await world.cat("export --zip");
    expect([exit, stderr]).toEqual([
      8,
      expect.stringMatching(
        /Exported 6 products with 11 of 13 images to catalogue\.zip [^\n]*\nerror: 2 images are not in the export\nTheir products may have been deleted meanwhile\. Run the command again for a new export\.\n$/,
      ),
    ]);
    expect(world.files()).toEqual(["catalogue.zip"]);
  });

  longTest("a stop keeps --yes in the command to resume with, but not --fresh", async () => {
    const world = await frozenWorld();
    world.write("a.zip", "old");
    const { stderr } = await world.cat("export --zip --out a.zip --fresh --yes --timeout 1s");
    expect(stderr.split("\n")[2]).toBe("  cat export --zip --out a.zip --yes --timeout 1s");
    await world.mock.clock.advance(60_000);
    expect((await world.cat("export --zip --out a.zip --yes")).exit).toBe(0);
  });

  test("a target that was rejected resumes nothing, and says nothing of it", async () => {
    const world = await frozenWorld({ demo: 1 });
    world.write("catalogue.jsonl", "old");
    expect((await world.cat("export --manifest")).exit).toBe(2);
    expect((await world.cat("export --manifest --yes")).stderr.split("\n")[0]).toMatch(
      /^Exported 1 product /,
    );
  });

  test("a stop before any job was created finds the products again", async () => {
    const world = await frozenWorld({ demo: 2 });
    await world.fault({ match: { job: "export" }, fail: { code: "render_failed", message: "broken" } });
    expect((await world.cat("export --zip")).exit).toBe(7);
    await world.calm();
    const gone = world.newestFirst()[0]!;
    await world.deleteProduct(gone);
    const { exit, stderr } = await world.cat("export --zip");
    expect([exit, stderr]).toEqual([
      0,
      expect.stringMatching(/^Exported 1 product with \d images? to [^\n]*\n$/),
    ]);
  });

  longTest("the end makes a new export", async () => {
    const world = await frozenWorld();
    await world.cat("export --manifest");
    await world.cat("export --manifest --yes");
    expect(names(world)).toEqual([6, 6]);
  });

  longTest("a failed job makes a new job for that part only", async () => {
    const world = await frozenWorld({ demo: 1200 });
    await world.fault({
      match: { job: "export" },
      times: 1,
      fail: { code: "render_failed", message: "no space" },
    });
    const failed = await world.cat(`export --zip ${noImages}`);
    const [broken] = world.jobs().filter(({ status }) => status === "failed");
    expect([failed.exit, failed.stderr]).toEqual([
      7,
      "Stopped: 2 of 3 export jobs completed.\n" +
        "To resume, run the same command again (completed jobs are kept):\n" +
        "  cat export --zip --role recoloring\n" +
        `error: export ${broken!.id} failed at the service: no space (render_failed)\n` +
        "Run the command again for a new export.\n",
    ]);
    const { exit, stdout } = await world.cat(`export --zip ${noImages} --json`);
    const summary = summaryOf(stdout);
    expect([exit, summary.products, summary.jobs.length]).toEqual([0, 1200, 3]);
    expect(summary.jobs.map(({ id }) => id)).not.toContain(broken!.id);
    expect(names(world)).toEqual([500, 500, 200, broken!.products.length]);
  });

  test("a stop exports the products that were found first", async () => {
    const world = await frozenWorld();
    const before = world.newestFirst();
    await world.fault({ match: creating, drop: "before", times: 20 });
    expect((await world.cat("export --manifest")).exit).toBe(7);
    await world.calm();
    world.write("more.csv", "reference,name,images\nNEW-1,New,https://cdn.example.com/1.jpg\n");
    await world.cat("import more.csv");
    await world.cat("export --manifest");
    expect(idsOf(world.read("catalogue.jsonl"))).toEqual(before);
  });

  test("a stop starts over with --fresh", async () => {
    const world = await frozenWorld();
    await world.cat("export --zip --timeout 1s");
    const { exit, stderr } = await world.cat("export --zip --fresh");
    expect([exit, stderr]).toEqual([0, expect.stringMatching(/^Exported 6 products/)]);
    expect([names(world), world.files()]).toEqual([[6, 6], ["catalogue.zip"]]);
  });

  test("a rejected role starts over, because there is nothing to resume", async () => {
    const world = await frozenWorld();
    const { exit, stderr } = await world.cat("export --zip --role tryin");
    expect([exit, stderr]).toEqual([
      3,
      expect.stringMatching(/^error: role\[0\]: must be one of .*\nDid you mean tryon\?\n$/),
    ]);
    expect((await world.cat("export --zip --role tryin")).stderr).not.toContain("Resuming");
    expect(world.files()).toEqual([]);
  });

  test("a stop may write to another place", async () => {
    const world = await frozenWorld();
    await world.cat("export --zip --timeout 1s");
    expect((await world.cat("export --zip --extract images --no-label")).exit).toBe(0);
    expect([names(world), world.files()]).toEqual([[6], ["images"]]);
  });
});

describe("a product that was deleted after the catalogue was read", () => {
  async function deletedMeanwhile(line: string, demo = 6): Promise<World> {
    const world = await frozenWorld({ demo });
    await world.fault({ match: creating, drop: "before", times: 20 });
    expect((await world.cat(line)).exit).toBe(7);
    await world.calm();
    await world.deleteProduct(world.products()[0]!.id);
    await world.deleteProduct(world.products()[1]!.id);
    return world;
  }

  test("is left out of an export of everything", async () => {
    const world = await deletedMeanwhile("export --manifest");
    const { exit, stderr } = await world.cat("export --manifest");
    expect([exit, stderr.split("\n").slice(1, 3)]).toEqual([
      0,
      [
        expect.stringMatching(/^Exported 4 products with \d images to catalogue\.jsonl/),
        "  2 products were deleted during the export and are not in it",
      ],
    ]);
    expect(idsOf(world.read("catalogue.jsonl"))).toEqual(world.newestFirst());
    expect(world.created().slice(-2)).toEqual([404, 202]);
  });

  longTest("is named if it was selected, with exit 5, and looked up again by the next command", async () => {
    const world = await frozenWorld();
    const [gone, other] = world.products();
    world.write("a.txt", `${gone!.reference}\n${other!.reference}\n`);
    await world.fault({ match: creating, drop: "before", times: 20 });
    const line = "export --manifest --products-from a.txt";
    await world.cat(line);
    await world.calm();
    await world.deleteProduct(gone!.id);
    const { exit, stderr } = await world.cat(line);
    expect([exit, stderr.split("\n").slice(-3, -1)]).toEqual([
      5,
      [
        expect.stringMatching(new RegExp(`^error: product ${gone!.id} does not exist \\(request \\S+\\)$`)),
        "Remove it from the selection and run the command again.",
      ],
    ]);
    const again = await world.cat(line);
    expect([again.exit, again.stderr.split("\n")[0]]).toEqual([
      3,
      expect.stringMatching(/^a\.txt:1 {2}- {2}product_not_found/),
    ]);
  });
});

test("while another process exports the same, the command exits with 6", async () => {
  const world = await frozenWorld();
  const first = world.cat("export --zip --out first.zip");
  await until(() => world.created().length > 0);
  const { exit, stderr } = await world.cat("export --zip");
  expect([exit, stderr.split("\n")[0]]).toEqual([
    6,
    "error: process 4711 has been working on first.zip since 2026-01-05T09:00:00Z",
  ]);
  expect((await first).exit).toBe(0);
});

test("nothing is left of a run that ended, in the folder or in the state", async () => {
  const world = await frozenWorld({ demo: 600 });
  await world.cat(`export --zip --extract images ${noImages} --timeout 1s`);
  expect((await world.cat(`export --zip --extract images ${noImages}`)).exit).toBe(0);
  const Libsql = (await import("libsql")).default;
  const db = new Libsql(join(world.folder, ".home", "state", "default.db"));
  const count = (table: string) =>
    (db.prepare(`SELECT count(*) AS n FROM ${table}`).get() as { n: number }).n;
  expect([count("mark"), count("batch"), readdirSync(world.folder).sort()]).toEqual([
    0,
    0,
    [".home", "images"],
  ]);
  db.close();
});
