import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import sharp from "sharp";
import { describe, expect } from "vitest";
import { press, readsStorage } from "../../../support/browser.ts";
import { longTest } from "../../../support/long-test.ts";
import { keys, openingPages, text } from "./open-page.ts";
import { entry, sampleData } from "./sample-page.ts";

const open = openingPages();
const shownCards = (page: Page) =>
  page
    .locator(".item:not([hidden]) .card")
    .evaluateAll((cards) => cards.map((card) => card.getAttribute("aria-label")));
const focused = (page: Page) =>
  page.evaluate<string | null>(
    "document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent",
  );
const noteOf = (page: Page, at: number) => page.locator(".item").nth(at).locator(".badge").textContent();
const live = (page: Page) => page.locator("#live").textContent();

async function savedCsv(page: Page): Promise<{ name: string; text: string }> {
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("#save")]);
  const saved = readFileSync(await download.path(), "utf8");
  const time = /\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/gm;
  return { name: download.suggestedFilename(), text: saved.replace(time, "TIME") };
}

describe("a gallery", () => {
  longTest("groups results by product and shows photo, result, failure and missing image", async () => {
    const { page } = await open();
    expect(await page.title()).toBe("Review of looks.csv");
    expect(
      await page
        .locator("section")
        .evaluateAll((all) => all.map((one) => one.querySelector("h2")?.textContent)),
    ).toEqual(["DRESS-1", "COAT-2"]);
    expect(await page.locator(".item .aside").allInnerTexts()).toEqual([
      "DRESS-1\nPhoto: front\nRed dress",
      "COAT-2\nPhoto: front\nCoat",
    ]);
    expect(await shownCards(page)).toEqual([
      "DRESS-1, Amara, studio, full-front, not reviewed",
      "DRESS-1, Bastian, #f4f1ea, full-front, not reviewed",
      "COAT-2, Amara, studio, half-front, not reviewed",
      "COAT-2, Amara, studio, full-front, Failed",
      "COAT-2, Amara, studio, close-up, not reviewed",
    ]);
    await page.locator(".missing").waitFor();
    expect(await page.locator(".item").nth(4).locator(".picture .frame").innerText()).toBe("Image missing");
    expect(await page.locator(".item").nth(3).locator(".reason").innerText()).toBe(
      "generation_failed: no face found",
    );
    expect(await page.locator(".item").nth(3).locator("button, input").count()).toBe(0);
    const images = page.locator(".item").nth(0).locator("img");
    expect(await images.evaluateAll((all) => all.map((one) => one.alt))).toEqual([
      "Photo of DRESS-1",
      "Result: DRESS-1, Amara, studio, full-front",
    ]);
    await expect.poll(() => images.evaluateAll((all) => all.every((one) => one.naturalWidth > 0))).toBe(true);
  });

  longTest("is reviewed with the keyboard", async () => {
    const { page } = await open();
    expect(await text(page, "#reviewed")).toBe("0 of 4 reviewed");
    await keys(page, "j");
    expect(await focused(page)).toBe("DRESS-1, Amara, studio, full-front, not reviewed");
    await keys(page, "a");
    expect(await live(page)).toBe("DRESS-1, Amara, studio, full-front: approved. 1 of 4 reviewed.");
    expect(await focused(page)).toBe("DRESS-1, Bastian, #f4f1ea, full-front, not reviewed");
    await keys(page, "r");
    expect(await text(page, "#reviewed")).toBe("2 of 4 reviewed");
    expect(await text(page, "#tally")).toBe("1 approved, 1 rejected");
    await keys(page, "ArrowRight", "r");
    expect(await live(page)).toBe("Failed: there is no image to review.");
    await keys(page, "Home", "u");
    expect(await live(page)).toBe("Undone: DRESS-1, Bastian, #f4f1ea, full-front, not reviewed.");
    expect(await focused(page)).toBe("DRESS-1, Bastian, #f4f1ea, full-front, not reviewed");
    expect(await text(page, "#tally")).toBe("1 approved, 0 rejected");
    await keys(page, "End", "a");
    expect(await focused(page)).toBe("COAT-2, Amara, studio, close-up, approved");
    expect(await live(page)).toBe("That was the last image.");
  });

  longTest("takes reasons and a note for the image that was just decided", async () => {
    const { page } = await open();
    await keys(page, "j", "r", "4", "3", "n");
    expect(await focused(page)).toBe("Note on DRESS-1, Amara, studio, full-front");
    await page.keyboard.type("fitting, but blue/j");
    expect(await noteOf(page, 0)).toBe("face, hands, fitting, but blue/j");
    await keys(page, "Escape");
    // The next image is current all the while.
    expect(await focused(page)).toBe("DRESS-1, Bastian, #f4f1ea, full-front, not reviewed");
    await keys(page, "3");
    expect(await noteOf(page, 0)).toBe("hands, fitting, but blue/j");
    await keys(page, "j", "k", "n");
    await page.keyboard.type("nice");
    await keys(page, "Enter", "a");
    expect([await noteOf(page, 0), await noteOf(page, 1)]).toEqual(["hands, fitting, but blue/j", "nice"]);
    // An approved image has no reasons.
    await keys(page, "1");
    expect(await noteOf(page, 1)).toBe("nice");
    expect(await text(page, "#tally")).toBe("1 approved, 1 rejected");
  });

  longTest(
    "drops the reasons of a rejection when the mind changes, and brings them back with undo",
    async () => {
      const { page } = await open();
      const decided = async () => [
        await noteOf(page, 0),
        await page.locator(".item").first().getAttribute("data-decision"),
      ];
      await keys(page, "j", "r", "2", "n");
      await page.keyboard.type("fit, too wide");
      await keys(page, "Escape", "k");
      expect(await decided()).toEqual(["fit, fit, too wide", "reject"]);
      await keys(page, "a");
      expect(await decided()).toEqual(["fit, too wide", "approve"]);
      expect((await savedCsv(page)).text).toContain(',approve,"fit, too wide",TIME\n');
      await keys(page, "u");
      expect(await decided()).toEqual(["fit, fit, too wide", "reject"]);
      await keys(page, "u");
      expect(await decided()).toEqual(["fit, too wide", ""]);
    },
  );

  longTest("can be filtered while a reason has the focus", async () => {
    const { page } = await open();
    await keys(page, "j", "r");
    await press(page.locator(".item").first().getByRole("button", { name: "fit", exact: true }));
    await page.selectOption("#by-decision", "none");
    expect(await shownCards(page)).toHaveLength(3);
    expect(await page.locator(".item .notes").count()).toBe(0);
    await page.selectOption("#by-decision", "");
    expect(await noteOf(page, 0)).toBe("fit");
  });

  longTest.for(["a", "r", "n", "Enter"])(
    "selects the first image with %s, and decides nothing",
    async (key) => {
      const { page } = await open();
      await keys(page, key);
      expect(await focused(page)).toBe("DRESS-1, Amara, studio, full-front, not reviewed");
      await keys(page, "a");
      expect(await live(page)).toBe("DRESS-1, Amara, studio, full-front: approved. 1 of 4 reviewed.");
    },
  );

  longTest.for(["a", "j", "ArrowRight", "Home"])(
    "after one Tab, which reaches the first link, %s selects the first image",
    async (key) => {
      const { page } = await open();
      await keys(page, "Tab", key);
      expect(await focused(page)).toBe("DRESS-1, Amara, studio, full-front, not reviewed");
      await keys(page, "a");
      expect(await text(page, "#reviewed")).toBe("1 of 4 reviewed");
    },
  );

  longTest("the keys work after the first link was followed, and at a button", async () => {
    const { page } = await open();
    await keys(page, "Tab", "Enter", "j", "r");
    expect(await text(page, "#tally")).toBe("0 approved, 1 rejected");
    await page.locator("#photos").focus();
    await keys(page, "j", "a");
    expect(await text(page, "#tally")).toBe("1 approved, 1 rejected");
    await page.locator("#photos").focus();
    await keys(page, "Enter");
    expect(await page.locator(".item .aside").first().isVisible()).toBe(false);
  });

  longTest("shows the sex of product and model, and marks where they differ", async () => {
    const { page } = await open(
      sampleData({
        products: [
          { id: "id-1", reference: "DRESS-1", name: "Red dress", sex: "female", photos: [] },
          { id: "id-2", reference: "COAT-2", name: "Coat", photos: [] },
        ],
        results: [
          entry({ line: 2, modelSex: "female" }),
          entry({ line: 3, modelName: "Bastian", modelSex: "male" }),
          entry({ line: 4, product: 1, modelName: "Bastian", modelSex: "male" }),
          entry({ line: 5, product: 1, modelId: null, modelName: null, subtype: "shoes" }),
        ],
      }),
    );
    const shown = (selector: string) => page.locator(`.item ${selector}`).allInnerTexts();
    expect(await shown(".product")).toEqual(["DRESS-1, female", "DRESS-1, female", "COAT-2", "COAT-2"]);
    expect(await shown(".subject")).toEqual(["Amara, female", "Bastian, male", "Bastian, male", "shoes"]);
    expect(
      await page
        .locator(".item")
        .evaluateAll((items) => items.map(({ dataset }) => dataset.sexes === "differ")),
    ).toEqual([false, true, false, false]);
    await keys(page, "j", "j", "Enter");
    expect(await text(page, "#large h2")).toBe("DRESS-1, female");
    expect(await text(page, "#large .subject")).toBe("Bastian, male");
  });

  longTest("moves to the row below and above, to the nearest column", async () => {
    const { page } = await open();
    await keys(page, "j", "j", "ArrowDown");
    expect(await focused(page)).toBe("COAT-2, Amara, studio, close-up, not reviewed");
    await keys(page, "ArrowDown");
    expect(await focused(page)).toBe("COAT-2, Amara, studio, close-up, not reviewed");
    await keys(page, "ArrowUp");
    expect(await focused(page)).toBe("DRESS-1, Bastian, #f4f1ea, full-front, not reviewed");
    await keys(page, "k", "ArrowDown");
    expect(await focused(page)).toBe("COAT-2, Amara, studio, full-front, Failed");
  });

  longTest("filters by product, model, status and decision", async () => {
    const { page } = await open();
    await keys(page, "/");
    await page.keyboard.type("coat");
    expect(await shownCards(page)).toHaveLength(3);
    expect(await text(page, "#shown")).toBe("3 of 5 images shown");
    expect(await live(page)).toBe("3 of 5 images shown.");
    expect(await page.locator("section:not([hidden])").count()).toBe(1);
    await page.selectOption("#by-status", "failed");
    expect(await shownCards(page)).toEqual(["COAT-2, Amara, studio, full-front, Failed"]);
    await page.selectOption("#by-model", { label: "Bastian" });
    expect(await text(page, "#empty")).toBe("No image matches the filters. Show all");
    await press(page.locator("#show-all"));
    await expect.poll(() => shownCards(page)).toHaveLength(5);
    // The keys work at once.
    await page.keyboard.press("a");
    expect(await text(page, "#tally")).toBe("1 approved, 0 rejected");
    await press(page.locator(".item").first().getByRole("button", { name: "Reject" }));
    await page.selectOption("#by-decision", "reject");
    expect(await shownCards(page)).toEqual(["DRESS-1, Amara, studio, full-front, rejected"]);
    await page.selectOption("#by-decision", "none");
    expect(await shownCards(page)).toHaveLength(3);
    expect(await page.locator("#by-status option").allInnerTexts()).toEqual([
      "All states",
      "Succeeded",
      "Failed",
    ]);
    await press(page.locator("[type=reset]"));
    await page.selectOption("#by-background", "#f4f1ea");
    expect(await shownCards(page)).toEqual(["DRESS-1, Bastian, #f4f1ea, full-front, not reviewed"]);
    await page.selectOption("#by-background", "");
    await page.selectOption("#by-angle", "close-up");
    expect(await shownCards(page)).toEqual(["COAT-2, Amara, studio, close-up, not reviewed"]);
    // The photo of a side is beside the first result that is shown.
    expect(await page.locator(".item:not([hidden]) .aside .title").allInnerTexts()).toEqual(["COAT-2"]);
  });

  longTest("skips cards that the filters hide", async () => {
    const { page } = await open();
    await page.selectOption("#by-model", { label: "Amara" });
    await press(page.locator(".item .what").first());
    await keys(page, "j");
    expect(await focused(page)).toBe("COAT-2, Amara, studio, half-front, not reviewed");
  });

  longTest(
    "keeps decisions and notes when it is opened again, and shows those of another window",
    readsStorage,
    async () => {
      const { page, again } = await open(sampleData(), { isOwn: true });
      const other = await again();
      const patience = { timeout: 15_000 };
      const tally = (window: Page) => text(window, "#tally");
      const note = (window: Page) => noteOf(window, 1);
      await keys(page, "j", "a", "r", "n");
      await page.keyboard.type("blurred");
      // The browser stores them later than the page does: once another window shows them, a reload finds them.
      await expect.poll(() => note(other), patience).toBe("blurred");
      expect(await tally(other)).toBe("1 approved, 1 rejected");
      await page.reload();
      expect(await note(page)).toBe("blurred");
      expect(await tally(page)).toBe("1 approved, 1 rejected");
      await keys(other, "j", "r");
      expect(await tally(other)).toBe("0 approved, 2 rejected");
      await expect.poll(() => tally(page), patience).toBe("0 approved, 2 rejected");
    },
  );

  longTest("keeps the decisions of another run apart", async () => {
    const { page } = await open();
    await keys(page, "j", "a");
    const keptAs = await page.evaluate("Object.keys(localStorage)");
    expect((keptAs as string[]).sort()).toEqual(["catalogue.review.run_1", "catalogue.review.run_1.saved"]);
  });

  longTest.for(["{", "null", "7", '{"task-2":7,"task-3":{"decision":"maybe","note":""}}'])(
    "opens all the same with damaged decisions in the browser: %s",
    async (damaged) => {
      const { page } = await open(sampleData(), { isOwn: true });
      await page.addInitScript(`localStorage.setItem("catalogue.review.run_1", ${JSON.stringify(damaged)})`);
      await page.reload();
      expect(await text(page, "#reviewed")).toBe("0 of 4 reviewed");
      await keys(page, "j", "a");
      expect(await text(page, "#reviewed")).toBe("1 of 4 reviewed");
    },
  );

  longTest("warns where the browser keeps nothing", async () => {
    const { page } = await open(sampleData(), { isOwn: true });
    await page.evaluate("Storage.prototype.setItem = () => { throw new Error('full'); }");
    expect(await page.locator("#lost").isVisible()).toBe(false);
    await keys(page, "j", "a");
    expect(await page.locator("#lost").isVisible()).toBe(true);
    expect((await savedCsv(page)).text).toContain(",approve,");
  });

  longTest("enlarges a result with Enter or a click, and is reviewed there", async () => {
    const { page } = await open();
    const dialog = page.locator("#large");
    await keys(page, "j", "Enter");
    expect(await dialog.isVisible()).toBe(true);
    expect(await dialog.locator(".what").innerText()).toBe("Amara studio full-front");
    expect(await dialog.locator(".file").isVisible()).toBe(false);
    expect(await dialog.locator(".place").innerText()).toBe("1 of 5");
    await keys(page, "r");
    expect(await dialog.locator(".what").innerText()).toBe("Bastian #f4f1ea full-front");
    expect(await dialog.locator("[role=status]").textContent()).toBe(
      "DRESS-1, Amara, studio, full-front: rejected. 1 of 4 reviewed. DRESS-1, Bastian, #f4f1ea, full-front, not reviewed.",
    );
    // Reasons and a note are for the image that was just decided.
    expect(await dialog.locator(".noted").innerText()).toBe(
      "Just rejected: DRESS-1, Amara, studio, full-front",
    );
    await keys(page, "2", "n");
    await page.keyboard.type("too dark");
    await keys(page, "Escape");
    expect(await dialog.isVisible()).toBe(true);
    expect([await noteOf(page, 0), await noteOf(page, 1)]).toEqual(["fit, too dark", ""]);
    await keys(page, "k");
    expect(await dialog.locator(".state").innerText()).toBe("rejected");
    expect(await dialog.getByRole("button", { name: "Previous image" }).isDisabled()).toBe(true);
    await keys(page, "u");
    expect(await dialog.locator(".state").innerText()).toBe("not reviewed");
    await keys(page, "ArrowRight", "ArrowRight", "ArrowRight");
    expect(await dialog.locator(".reason").innerText()).toBe("generation_failed: no face found");
    expect(await dialog.locator(".decide").isVisible()).toBe(false);
    await keys(page, "Escape");
    expect(await dialog.isVisible()).toBe(false);
    expect(await focused(page)).toBe("COAT-2, Amara, studio, full-front, Failed");
    await press(page.locator(".picture .frame").nth(1));
    expect(await dialog.locator(".what").innerText()).toBe("Bastian #f4f1ea full-front");
  });

  longTest(
    "shows and links the saved file in the large view, and the thumbnail where the file is gone",
    async () => {
      const name = `a "b" <c> & 50% #1?.png`;
      const png = await sharp({ create: { width: 900, height: 1200, channels: 3, background: "#123456" } })
        .png()
        .toBuffer();
      const results = [entry({ line: 2, file: name }), entry({ line: 3, file: "gone.png" })];
      const data = sampleData({ folder: "my%20images/", results });
      const { page, wrongs } = await open({ ...data, folder: "images/" }, { saved: { [name]: png } });
      await keys(page, "j", "Enter");
      const image = page.locator("#large .result img");
      await expect.poll(() => image.evaluate((one) => one.naturalWidth)).toBe(900);
      expect(await page.locator("#large .file").getAttribute("href")).toBe(
        `images/${encodeURIComponent(name)}`,
      );
      await keys(page, "j");
      await expect.poll(() => image.evaluate((one) => one.naturalWidth)).toBe(30);
      await expect.poll(() => wrongs.length).toBe(1);
      expect(wrongs.splice(0)).toEqual(["error Failed to load resource: net::ERR_FILE_NOT_FOUND"]);
      expect(await page.locator("#large .file").isVisible()).toBe(false);
      expect(await text(page, "#large .moved")).toBe(
        "The full-size file has moved. To link it again, run the command again with --gallery.",
      );
      await keys(page, "k");
      expect(await page.locator("#large .file").isVisible()).toBe(true);
      expect(await page.locator("#large .moved").isVisible()).toBe(false);
    },
  );

  longTest("shows its keys with ?, and closes them with Escape", async () => {
    const { page } = await open();
    await keys(page, "?");
    expect(await page.locator("#keys").isVisible()).toBe(true);
    await keys(page, "a");
    expect(await text(page, "#reviewed")).toBe("0 of 4 reviewed");
    await keys(page, "Escape");
    expect(await page.locator("#keys").isVisible()).toBe(false);
  });

  longTest("takes no letter of a field for a key", async () => {
    const { page } = await open();
    await keys(page, "j", "n");
    await page.keyboard.type("jar? u/r");
    expect(await noteOf(page, 0)).toBe("jar? u/r");
    expect(await text(page, "#reviewed")).toBe("0 of 4 reviewed");
  });
});
