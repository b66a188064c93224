import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { serviceInFront } from "../../cli/every-command/service-in-front.ts";
import { longTest } from "../../support/long-test.ts";
import { generateWorld, summaryOf } from "./generate-world.ts";

const day = 25 * 3_600_000;

async function unansweredWorld() {
  const world = await generateWorld();
  const lose = async (drop: "before" | "after", path: string, line: string, options = {}) => {
    await world.fault({ match: { method: "POST", path }, drop, times: 20 });
    expect((await world.cat(line, options)).exit).toBe(7);
    await fetch(`${world.mock.baseUrl}/_mock/faults`, { method: "DELETE" });
  };
  return { ...world, lose };
}

describe("a request without a response, over 24 h ago", () => {
  test("does not take the image of another one of its run that asked for the same look", async () => {
    const world = await unansweredWorld();
    const front = await serviceInFront(world.mock.baseUrl);
    front.loses = (body) => body.includes("ghost");
    let accepted = 0;
    front.change = (passing) => {
      if (passing.method === "POST" && accepted++ > 0) passing.cutAt = 1;
    };
    const rows = ["DRESS-2,clothing,floor,front,"].concat(
      ["ghost", "flatlay"].map((style) => `DRESS-1,clothing,floor,front,${style}`),
    );
    world.write(
      "shots.csv",
      ["product_reference,subtype,background,angle_shot,style", ...rows, ""].join("\n"),
    );
    const options = { env: { CAT_BASE_URL: front.origin } };
    expect((await world.cat("beautify shots.csv --yes", options)).exit).toBe(7);
    expect(world.tasks()).toHaveLength(2);
    front.change = null;
    front.loses = null;
    world.clock.advance(day);
    expect(await world.cat("beautify shots.csv --yes", options)).toMatchObject({
      exit: 6,
      stderr: expect.stringContaining("no response for 2 images of shots.csv"),
    });
    expect(world.tasks()).toHaveLength(2);
  });

  longTest("does not take the image of one that the user has said was queued", async () => {
    const world = await unansweredWorld();
    const header = "product_reference,model_id,background,angle_shot,look_at_camera\n";
    world.write("away.csv", `${header}DRESS-1,Amara,studio,full-front,false\n`);
    world.write("there.csv", `${header}DRESS-1,Amara,studio,full-front,true\n`);
    await world.lose("before", "/v1/tasks", "tryon away.csv --yes");
    await world.lose("after", "/v1/tasks", "tryon there.csv --yes");
    world.clock.advance(day);
    expect((await world.cat("tryon there.csv --yes --unknown queued")).exit).toBe(8);
    // Nothing is known of its image, however often one asks.
    expect((await world.cat("tryon there.csv --yes")).exit).toBe(8);
    expect((await world.cat("tryon away.csv --yes")).exit).toBe(6);
    expect(world.tasks()).toHaveLength(1);
  });

  longTest("does not take the failed task of another one about the same product", async () => {
    const world = await unansweredWorld();
    const product = "BAD-fail-model_unsafe_content";
    world.write("bad.csv", `reference,name,images\n${product},Coat,https://cdn.example.com/b.jpg\n`);
    await world.cat("import bad.csv");
    const header = "product_reference,model_id,background,angle_shot\n";
    world.write("one.csv", `${header}${product},Amara,studio,full-front\n`);
    world.write("other.csv", `${header}${product},Amara,garden,full-back\n`);
    await world.lose("before", "/v1/tasks", "tryon one.csv --yes");
    await world.lose("after", "/v1/tasks", "tryon other.csv --yes");
    world.clock.advance(day);
    expect((await world.cat("tryon one.csv --yes")).exit).toBe(6);
    expect((await world.cat("tryon other.csv --yes")).exit).toBe(6);
    expect(world.tasks()).toHaveLength(1);
  });
});

describe("a task that the service does not have any more", () => {
  const notFound = { match: { method: "GET", path: "/v1/tasks/" }, status: 404 };

  test("for one moment is followed to its end", async () => {
    const world = await generateWorld();
    world.looks("DRESS-1,Amara,studio,full-front");
    await world.fault({ ...notFound, times: 1 });
    const ran = await world.cat("tryon looks.csv --yes --save images --json");
    expect(ran.exit).toBe(0);
    expect(summaryOf(ran.stdout)).toMatchObject({ succeeded: 1, tasks: [{ status: "succeeded" }] });
  });

  longTest("counts as unknown, also if it was seen before, and the same command finds it later", async () => {
    const world = await generateWorld();
    world.looks("DRESS-1,Amara,studio,full-front");
    expect((await world.cat("tryon looks.csv --yes --no-wait")).exit).toBe(0);
    await world.fault(notFound);
    const lost = await world.cat("tryon looks.csv --yes --save images");
    expect(lost).toMatchObject({
      exit: 8,
      stderr: expect.stringContaining(
        "  1 image unknown to the service: was it restored or restarted? Run the same command again; if they stay unknown, --fresh generates all images of the input again.\n",
      ),
    });
    expect((await world.cat("tryon looks.csv --yes --save images --json")).stderr).toContain(
      '"1 of 1 image of looks.csv got no known result"',
    );
    await fetch(`${world.mock.baseUrl}/_mock/faults`, { method: "DELETE" });
    const found = await world.cat("tryon looks.csv --yes --save images --json");
    expect(found.exit).toBe(0);
    expect(summaryOf(found.stdout)).toMatchObject({ queued: 0, succeeded: 1 });
    // After the end of the run as well, where the service was started again without its data.
    await world.fault(notFound);
    const list = () => readFileSync(join(world.folder, "images/results.csv"), "utf8");
    const before = list();
    const { exit, stderr } = await world.cat("tryon looks.csv --save images");
    // The image is still in the folder.
    expect([before.includes(".png,"), list()]).toEqual([true, before]);
    expect([exit, stderr.split("\n", 1)[0]]).toEqual([
      8,
      expect.stringMatching(/^Nothing was queued: 1 image of looks\.csv was queued on \S+Z\.$/),
    ]);
    expect(world.tasks()).toHaveLength(1);
  });
});
