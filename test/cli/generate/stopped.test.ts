import { describe, expect, test } from "vitest";
import { longTest } from "../../support/long-test.ts";
import { sampled } from "../../support/repetitions.ts";
import { until } from "../../support/until.ts";
import { createWorld } from "../../support/world.ts";
import { generateWorld, summaryOf } from "./generate-world.ts";

type World = Awaited<ReturnType<typeof generateWorld>>;

const calm = (world: World) => fetch(`${world.mock.baseUrl}/_mock/faults`, { method: "DELETE" });
const queuing = { method: "POST", path: "/v1/tasks" };

/** Deletes a product as another client does. */
async function deleteProduct({ mock, products }: World, reference: string): Promise<void> {
  const { id } = products().find((one) => one.reference === reference)!;
  const headers = { authorization: `Bearer ${mock.apiKey}` };
  const { status } = await fetch(`${mock.baseUrl}/v1/products/${id}`, { method: "DELETE", headers });
  expect(status).toBe(204);
}

/** Two looks in a request of unknown outcome; the service then rejects the second one. */
async function rejectedAfterDoubt(): Promise<World> {
  const world = await generateWorld();
  world.looks("DRESS-1,Amara,studio,full-front", "DRESS-2,Amara,studio,full-front");
  await world.fault({ match: queuing, drop: "before", times: 20 });
  expect((await world.cat("tryon looks.csv --yes")).exit).toBe(7);
  await calm(world);
  await deleteProduct(world, "DRESS-2");
  return world;
}

describe("a request of unknown outcome", () => {
  test("that is rejected for one input leaves the other inputs to queue", async () => {
    const world = await rejectedAfterDoubt();
    const resumed = await world.cat("tryon looks.csv --yes --skip-invalid --json");
    expect(resumed.exit).toBe(8);
    expect(summaryOf(resumed.stdout)).toMatchObject({
      total: 2,
      succeeded: 1,
      rejected: [{ line: 3, code: "product_not_found" }],
    });
    expect(world.tasks()).toHaveLength(1);
  });

  longTest("for a beautified shot of a product that was deleted since is rejected", async () => {
    const world = await generateWorld();
    const header = "product_reference,subtype,background,angle_shot";
    world.write("shots.csv", `${header}\nDRESS-1,clothing,white,front\nDRESS-2,clothing,white,front\n`);
    await world.fault({ match: queuing, drop: "before", times: 40 });
    expect((await world.cat("beautify shots.csv --yes")).exit).toBe(7);
    await calm(world);
    await deleteProduct(world, "DRESS-2");
    const resumed = await world.cat("beautify shots.csv --yes --skip-invalid --json");
    expect(resumed.exit).toBe(8);
    expect(summaryOf(resumed.stdout)).toMatchObject({ total: 2, succeeded: 1 });
    expect(world.tasks()).toHaveLength(1);
  });

  longTest("that was a 402 does not stop the command after topping up", async () => {
    const world = await generateWorld();
    world.looks("DRESS-1,Amara,studio,full-front");
    await world.credits(0);
    await world.fault({ match: queuing, drop: "after", times: 20 });
    expect((await world.cat("tryon looks.csv --yes")).exit).toBe(7);
    await calm(world);
    await world.credits(1);
    const resumed = await world.cat("tryon looks.csv --yes --json");
    expect(resumed.exit).toBe(0);
    expect(summaryOf(resumed.stdout)).toMatchObject({ total: 1, succeeded: 1 });
    expect(world.tasks()).toHaveLength(1);
  });
});

test("a run without credits that saves nothing stops at once, and does not wait for the tasks that it queued", async () => {
  const world = await generateWorld();
  const looks = Array.from(
    { length: 21 },
    (_, at) => `DRESS-1,Amara,#${String(at).padStart(6, "0")},full-front`,
  );
  world.looks(...looks);
  await world.credits(20);
  const stopped = await world.cat("tryon looks.csv --yes --json");
  expect(stopped.exit).toBe(4);
  expect(summaryOf(stopped.stdout)).toMatchObject({ total: 21, queued: 20, succeeded: 0 });
});

longTest("a finished run has the same total as the command that finished it", async () => {
  const world = await rejectedAfterDoubt();
  await world.cat("tryon looks.csv --yes --skip-invalid");
  const again = await world.cat("tryon looks.csv --skip-invalid --json");
  expect(again.exit).toBe(0);
  expect(summaryOf(again.stdout)).toMatchObject({ total: 2, queued: 0, unchanged: 1, succeeded: 1 });
});

test("images whose request never got through are queued by the command that gets their tasks", async () => {
  const world = await generateWorld();
  world.looks("DRESS-1,Amara,studio,full-front");
  await world.fault({ match: { method: "POST", path: "/v1/tasks" }, drop: "before" });
  const stopped = await world.cat("tryon looks.csv --yes --json");
  expect([stopped.exit, world.tasks()]).toEqual([7, []]);
  await calm(world);
  const resumed = await world.cat("tryon looks.csv --yes --json");
  expect(summaryOf(resumed.stdout)).toMatchObject({ total: 1, queued: 1, unchanged: 0, succeeded: 1 });
});

longTest("an interrupted run exits with 130 also where the service rejected an input", async () => {
  const world = await rejectedAfterDoubt();
  await world.fault({ match: { method: "GET", path: "/v1/tasks" }, delay_ms: 60_000 });
  const running = world.cat("tryon looks.csv --yes --skip-invalid");
  await expect.poll(() => world.tasks().length).toBe(1);
  running.interrupt();
  const ended = await running;
  expect(ended.exit).toBe(130);
  expect(ended.stderr).toContain("To resume, run the same command again");
});

test("--skip-invalid --json prints the summary alone; without a valid row it prints the problems", async () => {
  const world = await generateWorld();
  world.looks("DRESS-9,Amara,studio,full-front", "DRESS-1,Amara,studio,full-front");
  const skipped = await world.cat("tryon looks.csv --yes --skip-invalid --json");
  expect(skipped.exit).toBe(8);
  expect(summaryOf(skipped.stdout)).toMatchObject({ total: 2, invalid: 1, succeeded: 1 });
  world.looks("DRESS-9,Amara,studio,full-front");
  const rejected = await world.cat("tryon looks.csv --yes --skip-invalid --json");
  expect(rejected.exit).toBe(3);
  expect(JSON.parse(rejected.stdout)).toMatchObject({
    problems: [{ line: 2, code: "product_not_found" }],
    total: 1,
    invalid: 1,
  });
});

test.each(
  sampled(
    [
      [
        "--save out",
        0,
        expect.stringContaining(
          "To queue the other images and save all of them, run (nothing is queued twice):\n" +
            "  cat tryon looks.csv --yes --save out --skip-invalid\n",
        ),
      ],
      [
        "--json",
        40,
        '{"error":{"type":"partial","code":"images_failed","message":"5 of 45 images of looks.csv failed or were not queued. ' +
          'To queue the others and wait for all, add --skip-invalid to the same command.","exit":8}}\n',
      ],
      [
        "--json --no-wait",
        0,
        expect.stringContaining("To queue the others, add --skip-invalid to the same command."),
      ],
    ],
    1,
  ),
)(
  "a product that is deleted while its images are queued stops the rest: %s",
  async (flag, listed, stderr) => {
    const world = await createWorld({ mock: { demo: 45 } });
    const looks = world.products().map(({ reference }) => `${reference},Amara,studio,full-front\n`);
    world.write("looks.csv", `product_reference,model_id,background,angle_shot\n${looks.join("")}`);
    world.mock.faults.add({ match: queuing, delay_ms: 60_000, times: 1 });
    const running = world.cat(`tryon looks.csv --yes ${flag}`);
    await until(() => world.requests().some(({ path }) => path === "/v1/tasks/tryon"));
    const headers = { authorization: `Bearer ${world.mock.apiKey}` };
    await fetch(`${world.mock.baseUrl}/v1/products/${world.products().at(-1)!.id}`, {
      method: "DELETE",
      headers,
    });
    world.clock.advance(60_000);
    const ran = await running;
    expect(ran).toMatchObject({ exit: 8, stderr });
    expect(flag === "--json" ? summaryOf(ran.stdout).tasks.length : 0).toBe(listed);
    const resumed = await world.cat("tryon looks.csv --yes --save out --skip-invalid --json");
    expect(summaryOf(resumed.stdout)).toMatchObject({ succeeded: 44 });
    expect(world.mock.state().organizations.main.tasks).toHaveLength(44);
  },
);
