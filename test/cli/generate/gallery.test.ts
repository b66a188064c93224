import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { detectImageType } from "../../../src/contract/image-file.ts";
import type { GalleryData } from "../../../src/flows/generate/gallery/describe-run.ts";
import { needsBrowser, openFile } from "../../support/browser.ts";
import { longTest } from "../../support/long-test.ts";
import { until } from "../../support/until.ts";
import { generateWorld, summaryOf } from "./generate-world.ts";
import { reviewWorld } from "./review-world.ts";

/** The data and the images of a page. */
function readPage(html: string): { data: GalleryData; images: (Buffer | null)[] } {
  const scripts = [...html.matchAll(/<script type="application\/json" id="([\w-]+)">(.*?)<\/script>/g)];
  const [data, ...blocks] = scripts.map(([, , text]) => JSON.parse(text!));
  const images = blocks.flat() as (string | null)[];
  return { data, images: images.map((image) => (image === null ? null : Buffer.from(image, "base64"))) };
}

const typesOf = (images: (Buffer | null)[]) => images.map((image) => image && detectImageType(image));

describe("--gallery", () => {
  test("writes a page with the photo of each product and a thumbnail of each result", async () => {
    const world = await generateWorld();
    world.looks(
      "DRESS-1,Amara,studio,full-front",
      "DRESS-1,Bastian,studio,full-back",
      "DRESS-2,Amara,loft,close-up",
    );
    const ran = await world.cat("tryon looks.csv --yes --gallery review.html");
    expect(ran).toMatchObject({ exit: 0, stdout: "" });
    expect(ran.stderr).toMatch(/\nTo review the images, open review\.html in a browser\.\n$/);
    const { data, images } = readPage(world.read("review.html"));
    expect(typesOf(images)).toEqual(Array(5).fill("image/webp"));
    expect(data).toMatchObject({
      kind: "tryon",
      title: "looks.csv",
      folder: null,
      decisionsFile: "looks.decisions.csv",
      commands: {
        record: "cat tasks review looks.decisions.csv",
        rerun: "cat tryon --rerun looks.decisions.csv --gallery review-2.html",
      },
      products: [
        { reference: "DRESS-1", name: "Dress 1", photos: [{ image: 0 }] },
        { reference: "DRESS-2", name: "Dress 2", photos: [{ image: 3 }] },
      ],
      results: [
        {
          line: 2,
          status: "succeeded",
          product: 0,
          modelName: "Amara",
          modelSex: "female",
          image: 1,
          file: null,
          reason: null,
        },
        { line: 3, status: "succeeded", product: 0, modelName: "Bastian", modelSex: "male", image: 2 },
        { line: 4, status: "succeeded", product: 1, background: "loft", image: 4 },
      ],
    });
    const { gallery_file } = summaryOf(
      (await world.cat("tryon looks.csv --json --gallery again.html")).stdout,
    );
    expect(gallery_file).toBe("again.html");
  });

  longTest(
    "of --rerun has the earlier image, and what was decided about it, beside each new one",
    async () => {
      const world = await reviewWorld(2);
      world.review("decisions.csv", ["approve"], ["reject", "sleeve too long"]);
      const ran = await world.cat("tryon --rerun decisions.csv --yes --gallery second.html");
      expect(ran.exit).toBe(0);
      const { data, images } = readPage(world.read("second.html"));
      expect(data.results.map(({ image, earlier }) => [image, earlier])).toEqual([
        [1, { decision: "reject", note: "sleeve too long", image: 2 }],
      ]);
      expect(typesOf(images)).toEqual(Array(3).fill("image/webp"));
    },
  );

  longTest("uses the saved files, links them, and lists failures with their reason", async () => {
    const world = await generateWorld();
    world.write(
      "more.ndjson",
      `${JSON.stringify({ reference: "HAT-fail-generation_failed", name: "Hat", images: [{ url: "https://cdn.example.com/h.jpg" }] })}\n`,
    );
    await world.cat("import more.ndjson");
    world.looks("DRESS-1,Amara,studio,full-front", "HAT-fail-generation_failed,Amara,studio,full-front");
    const before = world.requests().length;
    const ran = await world.cat("tryon looks.csv --yes --save out/images --gallery out/review.html --json");
    expect(ran.exit).toBe(8);
    const { data, images } = readPage(world.read("out/review.html"));
    expect(data.folder).toBe("images/");
    expect(data.commands).toEqual({
      approve: "cat tryon looks.csv --yes --save out/images --json --approved looks.decisions.csv",
      rerun: "cat tryon --rerun looks.decisions.csv --save out/images --gallery out/review-2.html",
    });
    expect(readdirSync(join(world.folder, "out/images"))).toContain(data.results[0]!.file);
    expect(data.results[1]).toMatchObject({ status: "failed", image: null, file: null });
    expect(data.results[1]!.reason).toMatch(/^generation_failed/);
    expect(typesOf(images)).toEqual(Array(3).fill("image/webp"));
    const signed = world
      .requests()
      .slice(before)
      .filter(({ path }) => path.startsWith("/_signed"));
    // One output, and two photos.
    expect(signed).toHaveLength(3);
  });

  test("shows images that cannot be fetched or decoded as missing", async () => {
    const world = await generateWorld();
    world.looks("DRESS-1,Amara,studio,full-front", "DRESS-2,Amara,studio,full-front");
    await world.fault({ match: { method: "GET", path: "/v1/images" }, status: 404, times: 1 });
    await world.fault({ match: { path: "/_signed" }, truncate: 900, times: 1 });
    const ran = await world.cat("tryon looks.csv --yes --gallery review.html");
    expect(ran.exit).toBe(0);
    expect(ran.stderr).toContain("The gallery lacks 2 images that could not be fetched.\n");
    expect(typesOf(readPage(world.read("review.html")).images).filter((type) => type === null)).toHaveLength(
      2,
    );
  });

  longTest("gets a fresh URL for an output whose URL has expired", async () => {
    const world = await generateWorld();
    world.looks("DRESS-1,Amara,studio,full-front");
    await world.cat("tryon looks.csv --yes --no-wait");
    await world.fault({ match: { path: "/_signed" }, status: 403, times: 1 });
    await world.cat("tryon looks.csv --gallery review.html");
    expect(typesOf(readPage(world.read("review.html")).images)).toContain("image/webp");
  });

  longTest("is written without names and photos where the key cannot read products", async () => {
    const world = await generateWorld();
    world.looks("DRESS-1,Amara,studio,full-front");
    await world.cat("tryon looks.csv --yes");
    await world.fault({ match: { method: "GET", path: "/v1/products" }, status: 403 });
    const ran = await world.cat("tryon looks.csv --gallery review.html");
    const page = existsSync(join(world.folder, "review.html")) ? readPage(world.read("review.html")) : null;
    expect([ran.exit, page?.data.products.map(({ reference, photos }) => [reference, photos])]).toEqual([
      0,
      [["DRESS-1", []]],
    ]);
  });

  test("is checked before anything is queued", async () => {
    const world = await generateWorld();
    world.looks("DRESS-1,Amara,studio,full-front");
    world.write("review.html", "earlier");
    world.write("folder/a", "");
    const refused = async (flags: string) => (await world.cat(`tryon looks.csv ${flags}`)).stderr;
    expect(await refused("--gallery review.html")).toBe(
      "error: review.html exists; nothing was queued\nAdd --yes to replace it, or choose another file with --gallery.\n",
    );
    const another = "Choose another file, for example --gallery review.html.\n";
    const taken = "the command already reads or writes it";
    expect(await refused("--yes --gallery looks.csv")).toBe(
      `error: cannot write --gallery looks.csv: ${taken}\n${another}`,
    );
    expect(await refused("--yes --gallery r.csv --results r.csv")).toBe(
      `error: cannot write --gallery r.csv: ${taken}\n${another}`,
    );
    expect(await refused("--yes --gallery folder")).toBe(
      "error: cannot write --gallery folder: it is a folder\nChoose a file with --gallery.\n",
    );
    expect(await refused("--yes --gallery none/review.html")).toBe(
      "error: cannot write --gallery none/review.html: its folder does not exist\nChoose a file with --gallery.\n",
    );
    expect(world.tasks()).toHaveLength(0);
    expect(world.read("review.html")).toBe("earlier");
    await world.cat("tryon looks.csv --yes --gallery review.html");
    expect(world.read("review.html")).toMatch(/^<!doctype html>/);
  });

  test("asks on a terminal before it replaces a file", async () => {
    const world = await generateWorld();
    world.looks("DRESS-1,Amara,studio,full-front");
    world.write("review.html", "earlier");
    const stdin = new PassThrough();
    const running = world.cat("tryon looks.csv --gallery review.html", { tty: true, stdin });
    await until(() => running.stderr.includes("Replace review.html?"));
    stdin.write("n\r");
    expect((await running).exit).toBe(0);
    expect(world.tasks()).toHaveLength(0);
    expect(world.read("review.html")).toBe("earlier");
  });

  longTest("of beautified images shows the kind of product, and repeats it with --rerun", async (context) => {
    needsBrowser(context);
    const world = await generateWorld();
    world.write(
      "shots.csv",
      "product_reference,subtype,style,background,angle_shot\nDRESS-1,clothing,ghost,white,front\nDRESS-2,clothing,,white,back\n",
    );
    const ran = await world.cat("beautify shots.csv --yes --gallery review.html");
    expect(ran.exit).toBe(0);
    const { page, wrongs } = await openFile(join(world.folder, "review.html"));
    expect(await page.locator(".item .subject").allTextContents()).toEqual(["clothing, ghost", "clothing"]);
    expect(await page.locator("#by-model").isVisible()).toBe(false);
    await page.keyboard.press("j");
    await page.keyboard.press("r");
    const [download] = await Promise.all([page.waitForEvent("download"), page.click("#save")]);
    await download.saveAs(join(world.folder, "decisions.csv"));
    expect((await world.cat("beautify --rerun decisions.csv --yes")).exit).toBe(0);
    const kinds = world.tasks().map(({ subtype, product_id }) => [subtype, product_id]);
    expect(kinds).toHaveLength(3);
    expect(kinds[2]).toEqual(kinds[0]);
    expect(wrongs).toEqual([]);
  });
});

longTest(
  "a review leads back to the command line: only the rejected images are generated again",
  async (context) => {
    needsBrowser(context);
    const world = await generateWorld();
    world.write(
      "looks.csv",
      "product_reference,model_id,background,angle_shot,styling_product_ids,look_at_camera\n" +
        "DRESS-1,Amara|Bastian,studio|loft,full-front,DRESS-3,false\nDRESS-2,Amara,studio,close-up,,\n",
    );
    const first = await world.cat("tryon looks.csv --matrix --yes --save images --gallery review.html");
    expect(first.exit).toBe(0);
    const { page, wrongs } = await openFile(join(world.folder, "review.html"));
    expect(await page.locator("#reviewed").innerText()).toBe("0 of 5 reviewed");
    for (const key of ["j", "a", "r", "a", "r", "a"]) await page.keyboard.press(key);
    expect(await page.locator("#reviewed").innerText()).toBe("5 of 5 reviewed");
    const [download] = await Promise.all([page.waitForEvent("download"), page.click("#save")]);
    await download.saveAs(join(world.folder, "looks.decisions.csv"));
    expect(download.suggestedFilename()).toBe("looks.decisions.csv");
    const [approve, command] = (await page.locator("#saved code").allInnerTexts()) as [string, string];
    expect(approve).toBe("cat tryon looks.csv --matrix --yes --save images --approved looks.decisions.csv");
    expect(command).toBe("cat tryon --rerun looks.decisions.csv --save images --gallery review-2.html");
    expect(wrongs).toEqual([]);

    const before = world.tasks();
    expect(before).toHaveLength(5);
    const again = await world.cat(`${command.replace(/^cat /, "")} --yes --json`);
    expect(summaryOf(again.stdout)).toMatchObject({
      total: 2,
      queued: 2,
      succeeded: 2,
      gallery_file: "review-2.html",
    });
    const wanted = before.filter((_, at) => at === 1 || at === 3);
    const content = ({ product_id, scene, styling_product_ids }: (typeof before)[number]) => {
      const { group: _, ...rest } = scene;
      return { product_id, styling_product_ids, ...rest };
    };
    expect(world.tasks().slice(5).map(content)).toEqual(wanted.map(content));
    // The other command moves the rejected images out of the folder.
    const moved = await world.cat(approve.replace(/^cat /, ""));
    expect(moved.exit, moved.stderr).toBe(0);
    expect(readdirSync(join(world.folder, "images/rejected"))).toHaveLength(2);
    // The same review again queues nothing.
    expect((await world.cat("tryon --rerun looks.decisions.csv")).stderr).toMatch(/^Nothing to do: 2 images/);
    expect(world.tasks()).toHaveLength(7);

    const second = await openFile(join(world.folder, "review-2.html"));
    expect(await second.page.locator("#reviewed").innerText()).toBe("0 of 2 reviewed");
    await second.page.keyboard.press("j");
    await second.page.keyboard.press("Enter");
    const image = second.page.locator("#large .result img");
    const thumbnail = 480;
    await expect.poll(() => image.evaluate((one) => one.naturalHeight)).toBeGreaterThan(thumbnail);
    expect(second.wrongs).toEqual([]);
  },
);

test("a page that cannot be written is reported at the end, after the saved images", async () => {
  const world = await generateWorld();
  world.looks("DRESS-1,Amara,studio,full-front");
  mkdirSync(join(world.folder, "pages"));
  const running = world.cat("tryon looks.csv --yes --save images --gallery pages/review.html");
  await until(() => running.stderr.includes("generating"));
  rmSync(join(world.folder, "pages"), { recursive: true });
  const ran = await running;
  expect(ran.exit).toBe(2);
  expect(ran.stderr).toMatch(/Saved 1 image in images.*\nerror: .*pages\/review\.html/);
  expect(world.read("images/results.csv")).toContain("succeeded");
});

test("a run without tasks, or one that is interrupted, writes no page", async () => {
  const world = await generateWorld();
  world.looks("DRESS-1,Amara,studio,full-front");
  await world.credits(0);
  expect((await world.cat("tryon looks.csv --yes --gallery review.html")).exit).toBe(4);
  expect(existsSync(join(world.folder, "review.html"))).toBe(false);
  await world.credits(null);
  const running = world.cat("tryon looks.csv --yes --gallery review.html");
  await until(() => running.stderr.includes("generating"));
  running.interrupt();
  expect((await running).exit).toBe(130);
  expect(
    readdirSync(world.folder).filter((name) => name.includes("review") || name.includes("gallery")),
  ).toEqual([]);
});
