import { describe, expect, test } from "vitest";
import { longTest } from "../../support/long-test.ts";
import { sampled } from "../../support/repetitions.ts";
import { s3Server } from "../../support/s3-server.ts";
import { dress, reviewedWorld } from "./reviewed-world.ts";

const [early, late] = ["2026-01-05T08:00:00.000Z", "2026-01-05T08:30:00.000Z"];

/** Two reviewers with laptops of their own and a server, none of which has generated the images. */
async function teamWorld() {
  const world = await reviewedWorld();
  const [one, two, three] = world.tasks as [string, string, string];
  const file = (name: string, ...rows: readonly (readonly string[])[]) =>
    world.write(name, ["task_id,decision,note,decided_at", ...rows.map((row) => row.join()), ""].join("\n"));
  // About the first image both say the same at one time, about the second Ben is later, about the third both are at one time.
  file(
    "anna.csv",
    [one, "approve", "", early],
    [two, "reject", "hands", early],
    [three, "approve", "", late],
  );
  file(
    "ben.csv",
    [one, "approve", "", early],
    [two, "approve", "", late],
    [three, "reject", '"=1, dark"', late],
  );
  const on = (machine: string, line: string, env: Record<string, string> = {}) =>
    world.cat(line, { env: { CAT_HOME: world.at(`.${machine}`), ...env } });
  const steps = {
    anna: (mirror: string, more = "", env = {}) =>
      on("anna", `tasks review anna.csv --mirror ${mirror} --reviewer Anna${more}`, env),
    ben: (mirror: string, more = "", env = {}) =>
      on("ben", `tasks review ben.csv --mirror ${mirror} --reviewer Ben${more}`, env),
    server: (mirror: string, more = "", env = {}) =>
      on("server", `export sync ${mirror} --approved --delete${more}`, env),
  };
  return { ...world, on, file, steps, ids: { one, two, three } };
}

const orders = [
  ["anna", "ben", "server"],
  ["anna", "server", "ben"],
  ["ben", "anna", "server"],
  ["ben", "server", "anna"],
  ["server", "anna", "ben"],
  ["server", "ben", "anna"],
] as const;

type World = Awaited<ReturnType<typeof teamWorld>>;

const expectedFile = ({ ids: { one, two, three } }: World) =>
  [
    "task_id,decision,note,decided_at,reviewer",
    `${one},approve,,${early},Ben`,
    `${two},approve,,${late},Ben`,
    `${three},reject,"'=1, dark",${late},Ben`,
    "",
  ].join("\n");

describe("decisions of two reviewers reach a server by the mirror", () => {
  test("in a folder, with the same result in every order", async () => {
    const world = await teamWorld();
    for (const [at, order] of sampled(orders).entries()) {
      const mirror = `m${at}`;
      for (const who of order) await world.steps[who](mirror);
      expect((await world.steps.server(mirror)).exit, order.join()).toBe(0);
      expect(world.read(`${mirror}/decisions.csv`), order.join()).toBe(expectedFile(world));
      expect(world.files(mirror)).toEqual([dress(1), dress(2)]);
      expect(world.tryons(`${mirror}/catalogue.ndjson`)).toEqual([
        ["DRESS-1", "approve", false],
        ["DRESS-2", "approve", false],
      ]);
    }
    const [tryon] = world.index("m0/catalogue.ndjson").filter(({ role }) => role === "tryon");
    expect(tryon).toMatchObject({ decision: "approve", reviewer: "Ben" });
    expect([early, late]).toContain(tryon!.decided_at);
  });

  longTest("in a bucket, with the same result in every order", async () => {
    const world = await teamWorld();
    const store = await s3Server(() => world.clock.now());
    const env = store.env(store.origin);
    for (const [at, order] of orders.entries()) {
      const mirror = `s3://shop/m${at}`;
      for (const who of order) await world.steps[who](mirror, " --path-style", env);
      expect((await world.steps.server(mirror, " --path-style", env)).exit).toBe(0);
      expect(String(store.objects.get(`m${at}/decisions.csv`)?.body)).toBe(expectedFile(world));
      const tryons = [...store.objects.keys()].filter(
        (key) => key.startsWith(`m${at}/`) && key.includes("tryon"),
      );
      expect(tryons.sort()).toEqual([dress(1), dress(2)].map((name) => `m${at}/${name}`));
    }
  });

  test("in a bucket at the same moment: none gets lost", async () => {
    const world = await teamWorld();
    const store = await s3Server(() => world.clock.now());
    const env = store.env(store.origin);
    await world.steps.ben("s3://shop/n", " --path-style", env);
    const ofBen = store.objects.get("n/decisions.csv")!;
    let reads = 0;
    // Ben's decisions arrive after Anna's machine has read the file, and before it writes.
    store.faults.instead = (method, key) => {
      if (method === "GET" && key === "m/decisions.csv" && ++reads === 1) store.objects.set(key, ofBen);
      return null;
    };
    expect((await world.steps.anna("s3://shop/m", " --path-style", env)).exit).toBe(0);
    expect(reads).toBe(2);
    expect(String(store.objects.get("m/decisions.csv")?.body)).toBe(expectedFile(world));
  });
});

describe("cat tasks review --mirror", () => {
  test("records the decisions, hands on those that count, and says where they are", async () => {
    const world = await teamWorld();
    await world.on("server", "export sync m");
    const ran = await world.steps.anna("m");
    expect(ran).toEqual({
      exit: 0,
      stdout: "",
      stderr:
        "Recorded 3 decisions of anna.csv: 2 approved, 1 rejected.\nHanded 3 decisions on to m/decisions.csv.\n",
    });
    world.file("again.csv", [world.ids.three, "reject", "", early], [world.ids.two, "", "", ""]);
    const { stdout } = await world.on("anna", "tasks review again.csv --mirror m/ --json");
    expect(JSON.parse(stdout)).toMatchObject({ later: 1, undecided: 1, decisions_file: "m/decisions.csv" });
    expect(world.read("m/decisions.csv")).toContain(`${world.ids.three},approve,,${late},Anna\n`);
    expect(world.names("m")).toContain("decisions.csv");
    // The next run of another machine has them, also without --approved.
    expect((await world.on("server", "export sync m --json")).exit).toBe(0);
    expect(world.tryons().map(([, decision]) => decision)).toEqual(["approve", "reject", "approve"]);
  });

  longTest("says how many images are decided otherwise there", async () => {
    const world = await teamWorld();
    await world.steps.ben("m");
    const { stdout } = await world.steps.anna("m", " --json");
    expect(JSON.parse(stdout)).toMatchObject({ approved: 2, rejected: 1, later: 0, overruled: 2 });
    expect((await world.steps.anna("m")).stderr).toContain(
      "Handed 3 decisions on to m/decisions.csv.\nOther decisions about 2 images count there: they are later, or rejections of the same time.\n",
    );
  });

  test("names the account of the computer without --reviewer, and keeps who has decided", async () => {
    const world = await teamWorld();
    const reviewers = () =>
      world
        .read("m/decisions.csv")
        .trim()
        .split("\n")
        .slice(1)
        .map((line) => line.split(",").at(-1));
    await world.on("ben", "tasks review ben.csv --mirror m");
    expect(reviewers()).toEqual(["ann", "ann", "ann"]);
    // Who records a file again has not decided.
    await world.on("anna", "tasks review anna.csv --reviewer Anna");
    await world.on("anna", "tasks review anna.csv --mirror n");
    expect(world.read("n/decisions.csv")).toContain(",Anna\n");
    // A file that names the reviewer says who it was.
    world.write("copy.csv", world.read("n/decisions.csv"));
    await world.on("third", "tasks review copy.csv --mirror o --reviewer Somebody");
    expect(world.read("o/decisions.csv")).toBe(world.read("n/decisions.csv"));
  });

  longTest("hands on to a mirror that has no run yet, and says so", async () => {
    const world = await teamWorld();
    expect((await world.steps.anna("m")).stderr.split("\n")[0]).toBe(
      "m is not a mirror yet: cat export sync m --approved makes it one.",
    );
    expect((await world.steps.server("m")).exit).toBe(0);
    expect(world.files()).toEqual([dress(1), dress(3)]);
  });

  test.each(
    sampled(
      [
        ["a folder of other files", "m", "m is not empty, and not a mirror of the catalogue"],
        ["a file", "m/notes.txt", "m/notes.txt is not a folder"],
      ],
      1,
    ),
  )("rejects %s, and records nothing", async (_, mirror, error) => {
    const world = await teamWorld();
    world.mkdir("m");
    world.write("m/notes.txt", "mine");
    const ran = await world.steps.anna(mirror);
    expect([ran.exit, ran.stderr]).toEqual([2, expect.stringContaining(`error: ${error}\n`)]);
    expect(world.tree("m")).toEqual({ "notes.txt": "mine" });
    expect(JSON.parse((await world.on("anna", "tasks review anna.csv --json")).stdout)).toMatchObject({
      ...{ reversed: 0, later: 0, approved: 2 },
    });
  });

  longTest("rejects a mirror of another service", async () => {
    const world = await teamWorld();
    await world.on("server", "export sync m");
    const state = world.read("m/.catalogue-sync/all/state.json");
    world.write("m/.catalogue-sync/all/state.json", state.replace(/http:[^"]*/, "https://other.example"));
    const ran = await world.steps.anna("m");
    expect([ran.exit, ran.stderr]).toEqual([
      2,
      expect.stringContaining(
        "error: m is another mirror: the service https://other.example, not the service ",
      ),
    ]);
  });

  longTest("rejects a store that does not check conditions: decisions would get lost", async () => {
    const world = await teamWorld();
    const store = await s3Server(() => world.clock.now());
    store.faults.ignoresConditions = true;
    const ran = await world.steps.anna("s3://shop/m", " --path-style", store.env(store.origin));
    expect([ran.exit, ran.stderr]).toEqual([
      2,
      expect.stringMatching(
        /so two machines could not be kept apart\nAdd --decisions FILE on the machine that mirrors\.\n$/,
      ),
    ]);
    expect([...store.objects.keys()]).toEqual([]);
  });
});

describe("the decisions of a mirror", () => {
  test("are recorded by the machine that has generated the images, also if some are not reviewed", async () => {
    const world = await teamWorld();
    world.file("one.csv", [world.ids.two, "approve", "", late]);
    await world.on("ben", "tasks review one.csv --mirror m --reviewer Ben");
    expect((await world.cat("tasks review one.csv")).stderr).toContain("incomplete_decisions");
    expect(await world.cat("tasks review m/decisions.csv")).toMatchObject({
      ...{ exit: 0, stderr: "Recorded 1 decision of m/decisions.csv: 1 approved, 0 rejected.\n" },
    });
  });

  longTest("are those of a profile that has some, and of files", async () => {
    const world = await teamWorld();
    await world.review("approve", "", "");
    expect((await world.cat("export sync m --approved --decisions anna.csv")).exit).toBe(0);
    const rows = world.read("m/decisions.csv").trim().split("\n").slice(1);
    expect(rows.map((row) => row.split(",").slice(0, 2))).toEqual([
      [world.ids.one, "approve"],
      [world.ids.two, "reject"],
      [world.ids.three, "approve"],
    ]);
    // Another profile needs no file: they have arrived.
    expect(await world.steps.server("m")).toMatchObject({ exit: 0 });
    expect(world.files()).toEqual([dress(1), dress(3)]);
  });

  longTest("stay as they are in a dry run, and without a decision there are none", async () => {
    const world = await teamWorld();
    await world.on("server", "export sync m");
    expect(world.names("m")).not.toContain("decisions.csv");
    const before = world.tree("m");
    const ran = await world.on("server", "export sync m --approved --decisions anna.csv --dry-run --json");
    expect(JSON.parse(ran.stdout)).toMatchObject({ removed: 1, rejected: 1, not_reviewed: 0 });
    expect(world.tree("m")).toEqual(before);
  });

  test("are never replaced where they cannot be read", async () => {
    const world = await teamWorld();
    await world.steps.anna("m");
    const damaged = world.read("m/decisions.csv").replace("approve", "yes");
    world.write("m/decisions.csv", damaged);
    for (const who of ["ben", "server"] as const) {
      const ran = await world.steps[who]("m");
      expect([ran.exit, ran.stderr], who).toEqual([
        3,
        expect.stringMatching(
          /m\/decisions\.csv:2 {2}decision {2}invalid_decision[\s\S]* has 1 problem; nothing was (?:handed on|exported)\nRestore m\/decisions\.csv from a copy, or move it away and hand the decisions on again\.\n$/,
        ),
      ]);
      expect(ran.stderr).toContain(who === "ben" ? "nothing was handed on" : "nothing was exported");
      expect(world.read("m/decisions.csv")).toBe(damaged);
    }
    // A copy that was cut, or another file.
    for (const content of sampled(["", "task_id", "garbage"], 1)) {
      world.write("m/decisions.csv", content);
      expect((await world.steps.ben("m")).exit, content).toBe(3);
      expect(world.read("m/decisions.csv")).toBe(content);
    }
    // As Excel writes it.
    const excel = `\ufeff${damaged.replace("yes", "approve").replaceAll(",", ";").replaceAll("\n", "\r\n")}`;
    world.write("m/decisions.csv", excel);
    expect((await world.steps.ben("m")).exit).toBe(0);
    expect(world.read("m/decisions.csv")).toBe(expectedFile(world));
  });
});
