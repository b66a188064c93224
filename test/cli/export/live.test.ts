import { chmodSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { parse } from "csv-parse/sync";
import { describe, expect, test } from "vitest";
import { until } from "../../support/until.ts";
import { exportWorld, idsOf } from "./export-world.ts";

const files = (folder: string): string[] => readdirSync(folder).filter((name) => name !== ".home");

describe("rows on standard output", () => {
  test("are one product per line, newest first, in pages of 100", async () => {
    const world = await exportWorld();
    const ran = await world.cat("export");
    expect(ran).toMatchObject({
      exit: 0,
      stderr: "Exported 250 products with 503 images in 0.0 s.\n",
    });
    expect(idsOf(ran.stdout)).toEqual(world.newestFirst());
    expect(world.reads()).toEqual(["first 200", "next 200", "next 200"]);
  });

  test("are the rows that the service sent", async () => {
    const world = await exportWorld({ demo: 2 });
    const response = await fetch(`${world.mock.baseUrl}/v1/exports`, {
      headers: { authorization: `Bearer ${world.mock.apiKey}` },
    });
    const { data } = (await response.json()) as { data: object[] };
    const { stdout } = await world.cat("export");
    expect(stdout).toBe(data.map((row) => `${JSON.stringify(row)}\n`).join(""));
  });

  test("are nothing for an empty catalogue", async () => {
    const world = await exportWorld({ demo: 0 });
    const stderr = "Exported 0 products with 0 images in 0.0 s.\n";
    expect(await world.cat("export")).toEqual({ exit: 0, stdout: "", stderr });
  });

  test("come without a summary with --json", async () => {
    const world = await exportWorld({ demo: 2 });
    const plain = await world.cat("export");
    expect(await world.cat("export --json")).toEqual({ exit: 0, stdout: plain.stdout, stderr: "" });
    expect(await world.cat("export --quiet --out -")).toEqual({ exit: 0, stdout: plain.stdout, stderr: "" });
  });

  test("end quietly when the reader goes away", async () => {
    const world = await exportWorld();
    const ran = await world.cat("export", { stdoutReads: 1 });
    expect(ran).toMatchObject({ exit: 0, stderr: "" });
    expect(idsOf(ran.stdout)).toEqual(world.newestFirst().slice(0, 100));
  });

  test("have a row per image with --format csv", async () => {
    const world = await exportWorld({ demo: 3 });
    const { stdout } = await world.cat("export --format csv");
    const rows = parse(stdout, { columns: true }) as Record<string, string>[];
    expect(rows.map(({ product_id, asset_id }) => `${product_id} ${asset_id}`)).toEqual(
      world
        .products()
        .reverse()
        .flatMap(({ id, images }) => images.map((image) => `${id} ${image.id}`)),
    );
    expect(stdout.split("\n")[0]).toBe(
      "product_id,reference,name,sex,deleted_at,asset_id,role,url,url_expires_at,mime_type,width,height,ai_generated,watermarked,derived,created_at,task_id,orientation,angle_shot,background,model_id,edit_number,attributes,also_features,suggested_filename",
    );
  });
});

describe("--role", () => {
  test("sends the roles once each, and keeps products without a matching image", async () => {
    const world = await exportWorld({ demo: 2 });
    const ran = await world.cat("export --role tryon,beautifier --role tryon");
    expect(ran.stderr).toBe("Exported 2 products with 0 images in 0.0 s.\n");
    expect(idsOf(ran.stdout)).toEqual(world.newestFirst());
    expect(world.requests().at(-1)!.path).toBe("/v1/exports?limit=100&role=beautifier%2Ctryon");
    const csv = await world.cat("export --role tryon --format csv");
    expect(csv.stdout.split("\n")).toHaveLength(2);
  });

  test("leaves unknown roles to the service, and suggests a known one", async () => {
    const world = await exportWorld({ demo: 2 });
    const ran = await world.cat("export --role try-on --out a.csv");
    expect(ran.exit).toBe(3);
    expect(ran.stderr).toMatch(/^error: .*role.*\nDid you mean tryon\?\n$/s);
    const unlike = await world.cat("export --role hologram");
    expect(unlike.stderr).toMatch(/\nKnown roles: source, beautifier, tryon, recoloring\.\n$/);
    expect(files(world.folder)).toEqual([]);
  });

  test("exits with 2 for an empty role", async () => {
    const world = await exportWorld({ demo: 0 });
    expect(await world.cat("export --role source,,tryon")).toEqual({
      exit: 2,
      stdout: "",
      stderr:
        'error: invalid --role "source,,tryon": a role is empty\nSeparate roles with commas, for example --role source,tryon.\n',
    });
  });
});

describe("--out FILE", () => {
  test("writes the bytes of standard output, in the format of its name", async () => {
    const world = await exportWorld({ demo: 3 });
    const ndjson = (await world.cat("export")).stdout;
    const csv = (await world.cat("export --format csv")).stdout;
    for (const [name, content] of [
      ["a.csv", csv],
      ["a.CSV", csv],
      ["a.ndjson", ndjson],
      ["a.jsonl", ndjson],
      ["a", ndjson],
    ] as const) {
      const ran = await world.cat(`export --out ${name}`);
      expect(ran).toEqual({
        exit: 0,
        stdout: "",
        stderr: `Exported 3 products with 5 images to ${name} in 0.0 s.\n`,
      });
      expect(world.read(name)).toBe(content);
    }
    await world.cat("export --out b.txt --format csv");
    expect(world.read("b.txt")).toBe(csv);
  });

  test("prints one summary with --json", async () => {
    const world = await exportWorld({ demo: 3 });
    const ran = await world.cat("export --out a.ndjson --json");
    expect({ ...ran, stdout: JSON.parse(ran.stdout) }).toEqual({
      exit: 0,
      stderr: "",
      stdout: {
        run_id: expect.stringMatching(/^run_/),
        products: 3,
        assets: 5,
        files: [{ path: "a.ndjson", bytes: Buffer.byteLength(world.read("a.ndjson")) }],
        jobs: [],
        duration_ms: expect.any(Number),
      },
    });
  });

  test("replaces a file with --yes only", async () => {
    const world = await exportWorld({ demo: 1 });
    world.write("a.ndjson", "old\n");
    const stderr =
      "error: a.ndjson exists; nothing was exported\nAdd --yes to replace it, or choose another file with --out.\n";
    expect(await world.cat("export --out a.ndjson")).toEqual({ exit: 2, stdout: "", stderr });
    expect(world.read("a.ndjson")).toBe("old\n");
    expect(world.requests()).toEqual([]);
    await world.cat("export --out a.ndjson --yes");
    expect(idsOf(world.read("a.ndjson"))).toEqual(world.newestFirst());
  });

  test.for(["y", "n"])("asks on a terminal before it replaces a file: %s", async (typed) => {
    const world = await exportWorld({ demo: 1 });
    world.write("a.ndjson", "old\n");
    const stdin = new PassThrough();
    const running = world.cat("export --out a.ndjson", { tty: true, stdin });
    await until(() => running.stderr.includes("Replace a.ndjson?"));
    stdin.write(`${typed}\r`);
    expect((await running).exit).toBe(0);
    expect(world.read("a.ndjson") === "old\n").toBe(typed === "n");
  });

  test.for([
    ["an empty name", "", "--out is empty"],
    ["a folder", "folder", "cannot write --out folder: it is a folder"],
    ["a missing folder", "no/a.csv", "cannot write --out no/a.csv: its folder does not exist"],
    ["a device", "/dev/null", "cannot write --out /dev/null: it is a device"],
    [
      "the program's own data",
      ".home/state/default.db",
      "cannot write --out .home/state/default.db: the program keeps its own data there",
    ],
  ] as const)("exits with 2, without a request, for %s", async ([, name, message]) => {
    const world = await exportWorld({ demo: 1 });
    world.write("folder/x", "");
    const ran = await world.cat(["export", "--out", name, "--yes"]);
    expect(ran).toMatchObject({ exit: 2, stdout: "" });
    expect(ran.stderr.split("\n")[0]).toBe(`error: ${message}`);
    expect(world.requests()).toEqual([]);
  });

  test.skipIf(process.getuid?.() === 0)("exits with 2 for a read-only folder", async () => {
    const world = await exportWorld({ demo: 1 });
    world.write("folder/x", "");
    chmodSync(join(world.folder, "folder"), 0o500);
    const ran = await world.cat("export --out folder/a.csv");
    expect(ran.stderr).toMatch(
      /^error: cannot write --out folder\/a\.csv: permission denied for its folder\n/,
    );
  });

  test("follows a link, and keeps the link", async () => {
    const world = await exportWorld({ demo: 1 });
    world.write("real.ndjson", "old\n");
    symlinkSync("real.ndjson", join(world.folder, "link.ndjson"));
    await world.cat("export --out link.ndjson --yes");
    expect(idsOf(world.read("real.ndjson"))).toEqual(world.newestFirst());
  });
});

describe("progress", () => {
  test("is a line on stderr every 10 s, without a terminal", async () => {
    const world = await exportWorld();
    const next = { path: "/v1/exports?limit=100&cursor=" };
    await world.fault({ match: next, times: 8, status: 503 });
    const ran = await world.cat("export");
    expect(ran.exit).toBe(0);
    expect(ran.stderr).toMatch(/^exporting products: 100(, .*)?\n/m);
    expect(idsOf(ran.stdout)).toEqual(world.newestFirst());
  });

  test("is a bar on a terminal with --out, and nothing next to rows on a terminal", async () => {
    const world = await exportWorld({ demo: 120 });
    const withFile = await world.cat("export --out a.ndjson", { tty: true });
    expect(withFile.stderr).toContain("exporting products");
    const rows = await world.cat("export", { tty: true });
    expect(rows.stderr).toBe("Exported 120 products with 237 images in 0.0 s.\n");
  });

  test("is no bar next to rows in a pipe, whose reader may write to the terminal", async () => {
    const world = await exportWorld({ demo: 120 });
    const { stdout, stderr } = await world.cat("export", { tty: { stderr: true } });
    expect(stderr).toBe("Exported 120 products with 237 images in 0.0 s.\n");
    expect(idsOf(stdout)).toHaveLength(120);
  });
});

test("an interrupt keeps the old file and leaves no other", async () => {
  const world = await exportWorld();
  world.write("a.ndjson", "old\n");
  await world.fault({ match: { path: "/v1/exports" }, delay_ms: 600_000 });
  const running = world.cat("export --out a.ndjson --yes");
  await until(() => readdirSync(world.folder).some((name) => name.endsWith(".part")));
  running.interrupt();
  expect(await running).toEqual({ exit: 130, stdout: "", stderr: "interrupted\n" });
  expect(files(world.folder)).toEqual(["a.ndjson"]);
  expect(world.read("a.ndjson")).toBe("old\n");
});

test("what a killed process left is removed by the next export to the same file", async () => {
  const world = await exportWorld({ demo: 1 });
  const leave = async (pid: number) => {
    const { unfinishedName } = await import("../../../src/flows/files/file-names.ts");
    const owner = { pid, runId: `run_${pid}`, isRunning: () => true };
    const name = `.${await unfinishedName(join(world.folder, "a.ndjson"), owner)}.part`;
    world.write(name, "half");
    return name;
  };
  await leave(99_999);
  const running = await leave(1);
  world.write(".b.ndjson.part", "another program's");
  await world.cat("export --out a.ndjson");
  expect(files(world.folder).sort()).toEqual([".b.ndjson.part", running, "a.ndjson"].sort());
});
