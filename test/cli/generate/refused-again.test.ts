import { describe, expect, test } from "vitest";
import { generateWorld } from "./generate-world.ts";

const header = "product_reference,model_id,background,angle_shot,error_code,error_message\n";
const first = "DRESS-1,Amara,studio,full-front";
const second = "DRESS-2,Amara,loft,full-front";

/** Generates one image for two equal rows; the second one is in looks.failed.csv. */
async function refusedOnce(rows = [first, first], flags = "") {
  const world = await generateWorld();
  world.looks(...rows);
  const ran = await world.cat(`tryon looks.csv --yes --skip-invalid${flags}`);
  expect(ran.exit).toBe(8);
  return world;
}

describe("a row that was rejected as a duplicate of another image", () => {
  test("is not paid for from the failed file as it is, unless --allow-duplicates is added", async () => {
    const world = await refusedOnce();
    const reason = 'the same image ("DRESS-1", "Amara", "studio", "full-front", true) is requested';
    expect(world.read("looks.failed.csv")).toBe(
      `${header}${first},duplicate_input,"${reason.replaceAll('"', '""')} on line 2 of looks.csv"\n`,
    );
    expect(await world.cat("tryon looks.failed.csv --yes --no-progress")).toMatchObject({
      exit: 3,
      stderr: expect.stringMatching(
        `^looks.failed.csv:2 {2}- {2}duplicate_input {2}${reason.replace(/[()]/g, String.raw`\$&`)} on line 2 of looks.csv: change the row, or empty its error_code\n`,
      ),
    });
    expect(world.tasks()).toHaveLength(1);
    await world.cat("tryon looks.failed.csv --yes --allow-duplicates");
    expect(world.tasks()).toHaveLength(2);
  });

  test("is generated once it asks for another image", async () => {
    const world = await refusedOnce();
    world.write("fixed.csv", world.read("looks.failed.csv").replace(`\n${first}`, `\n${second}`));
    expect(await world.cat("tryon fixed.csv --yes")).toMatchObject({ exit: 0 });
    expect(world.tasks()).toHaveLength(2);
  });

  test("stays rejected where the product was named in two ways", async () => {
    const world = await generateWorld();
    const { id } = world.products()[0]!;
    const columns = "product_reference,product_id,model_id,background,angle_shot\n";
    const look = "Amara,studio,full-front\n";
    world.write("looks.csv", `${columns}DRESS-1,,${look},${id},${look}`);
    await world.cat("tryon looks.csv --yes --skip-invalid");
    expect(world.tasks()).toHaveLength(1);
    expect(await world.cat("tryon looks.failed.csv --yes")).toMatchObject({ exit: 3 });
    expect(world.tasks()).toHaveLength(1);
  });

  test("stays rejected with several images of a matrix until its error_code is removed", async () => {
    const several = "DRESS-1,Amara,studio|loft,full-front";
    const world = await refusedOnce([first, several], " --matrix");
    const failed = world.read("looks.failed.csv");
    expect(failed).toContain(
      `${several},duplicate_input,an image of this row is requested on line 2 of looks.csv\n`,
    );
    const fixed = failed.replace("studio|loft", "loft");
    for (const text of [failed, fixed]) {
      world.write("fixed.csv", text);
      expect(await world.cat("tryon fixed.csv --yes --matrix")).toMatchObject({ exit: 3 });
    }
    world.write("fixed.csv", fixed.replace("duplicate_input", ""));
    expect(await world.cat("tryon fixed.csv --yes --matrix")).toMatchObject({ exit: 0 });
    expect(world.tasks()).toHaveLength(2);
  });
});
