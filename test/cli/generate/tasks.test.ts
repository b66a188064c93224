import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { longTest } from "../../support/long-test.ts";
import { generateWorld, summaryOf } from "./generate-world.ts";

const lines = (text: string) => text.trimEnd().split("\n");

/** A world with two tasks of DRESS-1 that were queued and not waited for, and their run. */
async function withQueued() {
  const world = await generateWorld();
  world.looks("DRESS-1,Amara,studio,full-front", "DRESS-1,Amara,studio,full-back");
  const summary = summaryOf((await world.cat("tryon looks.csv --yes --no-wait --json")).stdout);
  return { ...world, runId: summary.run_id, ids: summary.tasks.map(({ id }) => id) };
}

/** A beautified shot that no command of this machine has queued; gives the ID of its task. */
async function queuedElsewhere(baseUrl: string, productId: string): Promise<string> {
  const inputs = { product_id: productId, background: "white", angle_shot: "front" };
  const response = await fetch(`${baseUrl}/v1/tasks/beautifier`, {
    method: "POST",
    headers: { authorization: "Bearer ak_mock", "content-type": "application/json" },
    body: JSON.stringify({ subtype: "clothing", inputs }),
  });
  return ((await response.json()) as { id: string }).id;
}

test("list filters by status, type and product", async () => {
  const world = await withQueued();
  await world.cat("beautify --product DRESS-2 --subtype clothing --background white --angle front --yes");
  const list = async (flags: string) =>
    lines((await world.cat(`tasks list --json ${flags}`)).stdout).map((line) => JSON.parse(line).type);
  expect(await list("--all")).toEqual(["beautifier", "tryon", "tryon"]);
  expect(await list("--type tryon")).toEqual(["tryon", "tryon"]);
  expect(await list("--product DRESS-2")).toEqual(["beautifier"]);
  expect(await list("--subtype clothing")).toEqual(["beautifier"]);
  expect(await world.cat("tasks list --product NONE")).toMatchObject({ exit: 5, stdout: "" });
});

test("get shows a task; an unknown one exits with 5", async () => {
  const world = await withQueued();
  const ran = await world.cat(`tasks get ${world.ids[0]} --json`);
  expect(JSON.parse(ran.stdout)).toMatchObject({ id: world.ids[0], type: "tryon", status: "queued" });
  expect(await world.cat("tasks get 01HN1H1W000000000000000000")).toMatchObject({ exit: 5, stdout: "" });
});

longTest("tables of watch and save begin with the references of products and end with the IDs", async () => {
  const world = await withQueued();
  const table = async (line: string) =>
    lines((await world.cat(line)).stdout).map((row) => row.split(/ {2,}/));
  // No task has failed: the cells of failure_reason are empty.
  expect(await table(`tasks watch --run ${world.runId}`)).toEqual([
    ["reference", "status", "type", "failure_reason", "id"],
    ...world.ids.map((id) => ["DRESS-1", "succeeded", "tryon", id]),
  ]);
  const [header] = await table(`tasks save --run ${world.runId} --save images`);
  expect(header).toEqual(["reference", "status", "type", "output_file", "failure_reason", "id"]);
});

describe("watch", () => {
  test("waits for the tasks of a run and saves their images under the names of the run", async () => {
    const world = await withQueued();
    const ran = await world.cat(`tasks watch --run ${world.runId} --save images --json`);
    expect(ran.exit).toBe(0);
    expect(lines(ran.stdout).map((line) => JSON.parse(line))).toMatchObject([
      {
        id: world.ids[0],
        status: "succeeded",
        output_file: expect.stringMatching(/^images\/DRESS-1_full-front_studio_Amara_/),
      },
      {
        id: world.ids[1],
        status: "succeeded",
        output_file: expect.stringMatching(/^images\/DRESS-1_full-back_studio_Amara_/),
      },
    ]);
    expect(readdirSync(join(world.folder, "images"))).toHaveLength(4);
  });

  test("without an ID waits for every task that is queued or running", async () => {
    const world = await withQueued();
    const ran = await world.cat("tasks watch --json");
    expect(lines(ran.stdout).map((line) => JSON.parse(line).status)).toEqual(["succeeded", "succeeded"]);
    expect(await world.cat("tasks watch")).toEqual({ exit: 0, stdout: "", stderr: "No tasks found.\n" });
  });

  longTest("exits with 7 after --timeout, 5 for an unknown task, 8 where one failed", async () => {
    const world = await withQueued();
    expect(await world.cat(`tasks watch ${world.ids[0]} --timeout 1s`)).toMatchObject({ exit: 7 });
    expect(await world.cat("tasks watch 01HN1H1W000000000000000000")).toMatchObject({ exit: 5 });
    expect(await world.cat("tasks watch --run run_unknown")).toEqual({
      exit: 5,
      stdout: "",
      stderr:
        'error: unknown run "run_unknown"\nUse the run_id of a summary of cat tryon or cat beautify on this machine.\n',
    });
    await world.fault({
      match: { job: "task" },
      times: 1,
      fail: { code: "upstream_busy", message: "try again" },
    });
    await world.cat(
      "tryon --product DRESS-2 --model Amara --background studio --angle full-front --yes --no-wait",
    );
    const { exit, stderr } = await world.cat("tasks watch --json");
    expect([exit, JSON.parse(stderr).error.message]).toEqual([8, "1 of 3 tasks failed"]);
  });
});

describe("save", () => {
  longTest("of a run whose tasks the service has lost says so, and what to do", async () => {
    const world = await withQueued();
    await fetch(`${world.mock.baseUrl}/_mock/reset`, { method: "POST" });
    expect(await world.cat(`tasks save --run ${world.runId} --save images`)).toEqual({
      exit: 5,
      stdout: "",
      stderr:
        `error: the service no longer has 2 tasks of run ${world.runId}\n` +
        "Check the base URL. If the service was restored or restarted, --fresh generates all images of the input again.\n",
    });
    const other = "01HN1H1W04ANXCYAC9YMJN5XA5";
    expect((await world.cat(`tasks save --run ${world.runId} ${other} --save images`)).stderr).toContain(
      `unknown task ${other}, `,
    );
  });

  test("saves the images of tasks of another machine, named after their product", async () => {
    const world = await withQueued();
    await world.cat("tasks watch");
    const elsewhere = { env: { CAT_HOME: join(world.folder, "other") } };
    const ran = await world.cat(["tasks", "save", ...world.ids, "--save", "images"], elsewhere);
    expect(ran).toMatchObject({ exit: 0, stderr: "Saved 2 images in images (listed in results.csv).\n" });
    const names = readdirSync(join(world.folder, "images")).filter((name) => name.endsWith(".png"));
    expect(names.map((name) => name.replace(/_[0-9a-z]{10}\./, "_ID."))).toEqual([
      "DRESS-1_ID.png",
      "DRESS-1_ID.png",
    ]);
  });

  longTest(
    "names the images of tasks of this machine as their run does, and lists them in the folder",
    async () => {
      const world = await withQueued();
      await world.cat("tasks watch");
      const other = await queuedElsewhere(world.mock.baseUrl, world.tasks()[0]!.product_id);
      await world.cat("tasks watch");
      const ran = await world.cat(["tasks", "save", world.ids[0]!, other, "--save", "images"]);
      expect(ran.stderr).toBe("Saved 2 images in images (listed in results.csv).\n");
      const rows = world.read("images/results.csv").trim().split("\n");
      const product = world.tasks()[0]!.product_id;
      const own = readdirSync(join(world.folder, "images")).filter((name) => name.endsWith(".png"));
      expect(own.map((name) => name.replace(/_[0-9a-z]{10}\./, "_ID."))).toEqual([
        "DRESS-1_ID.png",
        "DRESS-1_full-front_studio_Amara_ID.png",
      ]);
      expect(rows).toEqual([
        "line,task_id,status,product_id,product_reference,model_id,background,angle_shot,file,failure_reason,ai_generated,label,decision,note",
        `2,${world.ids[0]},succeeded,${product},DRESS-1,mdl_001,studio,full-front,${own[1]},,true,true,,`,
        `,${other},succeeded,${product},DRESS-1,,,,${own[0]},,true,true,,`,
      ]);
      await world.cat("tryon looks.csv --save images");
      expect(readdirSync(join(world.folder, "images")).filter((name) => name.endsWith(".png"))).toHaveLength(
        3,
      );
    },
  );

  test("saves nothing of tasks that have not finished, and says so", async () => {
    const world = await withQueued();
    const ran = await world.cat(["tasks", "save", ...world.ids, "--save", "images"]);
    expect(ran).toMatchObject({
      exit: 0,
      stderr: "No image was saved in images.\n2 tasks not finished yet. To wait, use cat tasks watch.\n",
    });
  });

  test.for([
    ["tasks save 01HN1H1W000000000000000000", "missing --save", "Add --save DIR."],
    ["tasks save --save images", "missing argument: ID", "Use IDs of tasks, or --run RUN."],
  ] as const)("exits with 2: %s", async ([line, message, hint]) => {
    const world = await generateWorld();
    expect(await world.cat(line)).toEqual({ exit: 2, stdout: "", stderr: `error: ${message}\n${hint}\n` });
  });
});
