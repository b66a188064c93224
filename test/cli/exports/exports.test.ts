import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { frozenWorld } from "../export/frozen-world.ts";
import { exportId } from "./exports-world.ts";

/** A world in which another client's ZIP is still prepared. */
async function processing() {
  const world = await frozenWorld();
  await world.post("/v1/exports", { format: "zip" });
  const { id } = world.jobs()[0]!;
  return { ...world, id };
}

describe("the list of exports", () => {
  test("lists the exports started from this machine, newest first, with the last status seen", async () => {
    const world = await frozenWorld();
    await world.cat("export --zip --timeout 1s");
    await world.cat("export --manifest --out all.jsonl");
    const [zip, manifest] = world.jobs();
    const asked = world.requests().length;
    expect(await world.cat("exports list")).toEqual({
      exit: 0,
      stderr: "",
      stdout:
        "file           products  format    status      at                 id\n" +
        `all.jsonl      6         manifest  completed   2026-01-05T09:00Z  ${manifest!.id}\n` +
        `catalogue.zip  6         zip       processing  2026-01-05T09:00Z  ${zip!.id}\n`,
    });
    expect(world.requests()).toHaveLength(asked);
    const { stdout } = await world.cat("exports list --json --limit 1");
    expect(JSON.parse(stdout)).toEqual({
      ...{ id: manifest!.id, file: "all.jsonl", products: 6, format: "manifest", status: "completed" },
      ...{ at: expect.stringMatching(/^2026-01-05T09:00:0/), base_url: world.mock.baseUrl },
      run_id: expect.stringMatching(/^run_/),
    });
  });

  test("is empty before the first export", async () => {
    const world = await frozenWorld({ demo: 0 });
    expect(await world.cat("exports list")).toEqual({
      exit: 0,
      stdout: "",
      stderr: `No exports were started from this machine on ${world.mock.baseUrl} yet.\n`,
    });
    expect((await world.cat("exports list --mock")).stderr).toBe(
      "No exports: --mock loses its data after each command.\n",
    );
  });
});

describe("one export", () => {
  test("is shown with a new URL", async () => {
    const world = await processing();
    const shown = JSON.parse((await world.cat(`exports get ${world.id} --json`)).stdout);
    expect(shown).toMatchObject({ id: world.id, format: "zip", status: "processing", url: null });
    await world.mock.clock.advance(60_000);
    expect((await world.cat(`exports get ${world.id}`)).stdout).toMatch(/^status +completed$/m);
  });

  test.each(["get", "watch", "download"])(
    "started here has the status seen by %s in the list",
    async (command) => {
      const world = await frozenWorld();
      await world.cat("export --zip --timeout 1s");
      expect((await world.cat("exports list")).stdout).toContain("processing");
      await world.mock.clock.advance(60_000);
      await world.cat(`exports ${command} ${world.jobs()[0]!.id}`);
      expect((await world.cat("exports list")).stdout).toContain("completed");
    },
  );

  test("is watched until it completes", async () => {
    const world = await processing();
    const { exit, stdout, stderr } = await world.cat(`exports watch ${world.id}`);
    expect([exit, stderr]).toEqual([0, `To save its file: cat exports download ${world.id}\n`]);
    expect(stdout).toMatch(/^status +completed$/m);
  });

  test("that failed exits with 7, and the error has the reason of the service", async () => {
    const world = await processing();
    await world.fault({ match: { job: "export" }, fail: { code: "render_failed", message: "no\nspace" } });
    for (const command of ["watch", "download"]) {
      const { exit, stderr } = await world.cat(`exports ${command} ${world.id}`);
      expect([exit, stderr]).toEqual([
        7,
        `error: export ${world.id} failed at the service: no space (render_failed)\n` +
          "Start a new export, for example: cat export --zip\n",
      ]);
    }
  });

  test.each(["get", "watch", "download"])("that does not exist: %s exits with 5", async (command) => {
    const world = await frozenWorld({ demo: 0 });
    expect((await world.cat(`exports ${command} ${exportId}`)).exit).toBe(5);
    const { exit, stderr } = await world.cat(`exports ${command} 4711`);
    expect([exit, stderr.split("\n")[0]]).toEqual([5, 'error: no export has the ID "4711"']);
    expect(world.files()).toEqual([]);
  });
});

describe("the file of an export", () => {
  test("is saved once the service has prepared it", async () => {
    const world = await processing();
    const { exit, stdout } = await world.cat(`exports download ${world.id} --json`);
    const name = `${world.id}.zip`;
    expect([exit, JSON.parse(stdout), world.files()]).toEqual([
      0,
      {
        jobs: [{ id: world.id, status: "completed" }],
        assets: 11,
        files: [{ path: name, bytes: expect.any(Number) }],
        duration_ms: 5000,
      },
      [name],
    ]);
  });

  test("is extracted into a new folder", async () => {
    const world = await processing();
    const { exit, stderr } = await world.cat(`exports download ${world.id} --extract images`);
    expect([exit, stderr]).toEqual([
      0,
      expect.stringMatching(/^Saved images \(11 files, \d+\.\d kB\) in 5\.0 s\.\n$/),
    ]);
    expect([readdirSync(join(world.folder, "images")).length, world.files()]).toEqual([11, ["images"]]);
  });

  test("is saved by one process at a time", async () => {
    const world = await processing();
    const command = `exports download ${world.id} --extract images`;
    const [first, second] = await Promise.all([world.cat(command), world.cat(command)]);
    expect([first.exit, second.exit].sort()).toEqual([0, 6]);
    expect(first.stderr + second.stderr).toContain(
      `error: another process is saving export ${world.id} to images\n`,
    );
    expect([readdirSync(join(world.folder, "images")).length, world.files()]).toEqual([11, ["images"]]);
  });

  test("that is a manifest is saved as ID.jsonl, and cannot be extracted", async () => {
    const world = await frozenWorld();
    await world.cat("export --manifest");
    const { id } = world.jobs()[0]!;
    expect(await world.cat(`exports download ${id} --extract images`)).toMatchObject({
      exit: 2,
      stderr:
        "error: --extract needs a ZIP, and this export is a manifest\nUse --out to save the manifest.\n",
    });
    expect((await world.cat(`exports download ${id}`)).exit).toBe(0);
    const urls = /"url(_expires_at)?":"[^"]*"/g;
    expect(world.read(`${id}.jsonl`).replace(urls, "")).toBe(world.read("catalogue.jsonl").replace(urls, ""));
  });

  test("is not waited for longer than --timeout", async () => {
    const world = await processing();
    expect(await world.cat(`exports download ${world.id} --timeout 2s`)).toMatchObject({
      exit: 7,
      stderr: expect.stringMatching(/^error: the download did not finish within 2 s\n/),
    });
  });

  test.each([
    ["--out '' ", 'invalid --out ""'],
    ["--out -", 'invalid --out "-"'],
    ["--out a --extract b", "--extract cannot be used with --out"],
  ])("with %s exits with 2", async (flags, message) => {
    const world = await frozenWorld({ demo: 0 });
    const { exit, stderr } = await world.cat(`exports download ${exportId} ${flags}`);
    expect([exit, stderr.split("\n")[0]]).toEqual([2, `error: ${message}`]);
  });
});
