import { expect, test } from "vitest";
import { jsonInHtml } from "../../../../src/flows/generate/gallery/write-gallery.ts";
import { needsBrowser, openFile, readsStorage } from "../../../support/browser.ts";
import { longTest } from "../../../support/long-test.ts";
import { entry, sampleData, writePage } from "./sample-page.ts";

const hostile = [
  "<img src=x onerror=window.hacked=1>",
  "</script><script>window.hacked=1</script>",
  "<!--<script>",
  "-->]]>",
  `"'\`><svg onload=window.hacked=1>`,
  "javascript:window.hacked=1",
  "\u2028\u2029\u001b[31m",
  "\u202egnp.exe \u2067abc",
  "{{data}} $& $1 <!-- script --> <!-- images -->",
  "مرحبا بالعالم",
  "x".repeat(300),
  "👩🏽‍🦱 é e\u0301",
  "__proto__",
];

test("JSON in a page has no character that ends its element", () => {
  expect(jsonInHtml(["</script>", "<!--", "&", "\u2028\u2029"])).toBe(
    String.raw`["\u003c/script\u003e","\u003c!--","\u0026","\u2028\u2029"]`,
  );
});

/** A page on which everything is called by these names. */
const named = (names: readonly string[]) =>
  sampleData({
    run: names.join(),
    title: names.join(" "),
    commands: { rerun: `cat tryon --rerun ${names.join(" ")}` },
    folder: "images/",
    products: names.map((name) => ({
      id: name,
      reference: name,
      name,
      photos: [{ image: 0, orientation: name }],
    })),
    results: names.flatMap((name, product) => [
      entry({
        ...{ line: 2, product, taskId: name, file: name },
        ...{ modelName: name, modelId: name, background: name, angleShot: name },
      }),
      entry({ line: 3, product, status: name, reason: name, image: null, modelId: null, modelName: null }),
    ]),
  });

longTest("hostile names do nothing but show", readsStorage, async (context) => {
  needsBrowser(context);
  const { page, wrongs } = await openFile(await writePage(named(hostile)), {
    viewport: { width: 400, height: 900 },
  });
  const texts = (selector: string) => page.locator(selector).allTextContents();
  expect(await texts("section h2 bdi")).toEqual(hostile);
  for (const part of [".subject", ".background", ".angle"])
    expect((await texts(`.item ${part}`)).filter((_, at) => at % 2 === 0)).toEqual(hostile);
  expect(await texts(".item .reason")).toEqual(hostile);
  expect(await texts(".item .status")).toEqual(hostile);
  expect((await texts("#by-model option")).slice(1).sort()).toEqual([...hostile].sort());
  await page.keyboard.press("j");
  for (const _ of hostile) {
    await page.keyboard.press("Enter");
    await page.keyboard.press("r");
    await page.keyboard.press("Escape");
    await page.keyboard.press("j");
  }
  await page.click("#save");
  const all = hostile.length;
  expect(await texts("#reviewed")).toEqual([`${all} of ${all} reviewed`]);
  expect(await page.evaluate("window.hacked")).toBeUndefined();
  expect(await page.locator("svg, img:not([alt]), script:not([type='application/json'])").count()).toBe(1);
  await page.reload();
  expect(await texts("#reviewed")).toEqual([`${all} of ${all} reviewed`]);
  // Nothing is wider than the window.
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(400);
  // The saved files that the large view asks for do not exist.
  expect(
    wrongs.filter(
      (one) => !/^error Failed to load resource: net::ERR_(FILE_NOT_FOUND|INVALID_URL)$/.test(one),
    ),
  ).toEqual([]);
});
