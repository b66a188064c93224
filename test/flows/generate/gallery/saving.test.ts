import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { describe, expect } from "vitest";
import { press, readsStorage } from "../../../support/browser.ts";
import { longTest } from "../../../support/long-test.ts";
import { keys, openingPages, text } from "./open-page.ts";
import { entry, sampleData } from "./sample-page.ts";

const open = openingPages();
const live = (page: Page) => page.locator("#live").textContent();

async function savedCsv(page: Page): Promise<{ name: string; text: string }> {
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("#save")]);
  const saved = readFileSync(await download.path(), "utf8");
  const time = /\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/gm;
  return { name: download.suggestedFilename(), text: saved.replace(time, "TIME") };
}

describe("the decisions of a gallery", () => {
  longTest("about its only image are saved by a button that names one image", async () => {
    const { page } = await open(sampleData({ results: [entry({ line: 2 })] }));
    await keys(page, "j", "a");
    expect(await text(page, "#save")).toBe("1 image reviewed: save");
  });

  longTest("are saved as CSV", async () => {
    const products = [
      { id: "id-1", reference: 'A "quoted", one', name: null, photos: [] },
      { id: "id-2", reference: "=1+2", name: null, photos: [] },
      { id: "id-3", reference: null, name: null, photos: [] },
    ];
    const results = [
      entry({ line: 2 }),
      entry({ line: 3, product: 1, background: "#f4f1ea" }),
      entry({ line: 4, product: 2, modelId: null, modelName: null, subtype: "shoes" }),
      entry({ line: 5, product: 2, status: "not_queued", taskId: null, image: null }),
    ];
    const { page } = await open(sampleData({ products, results }));
    await keys(page, "j", "a", "r", "j", "k", "n");
    await page.keyboard.type('=SUM(A1), "really" ');
    expect(await savedCsv(page)).toEqual({
      name: "looks.decisions.csv",
      text: [
        "line,task_id,status,product_id,product_reference,model_id,background,angle_shot,decision,note,decided_at",
        '2,task-2,succeeded,id-1,"A ""quoted"", one",mdl_001,studio,full-front,approve,,TIME',
        "3,task-3,succeeded,id-2,'=1+2,mdl_001,#f4f1ea,full-front,reject,,TIME",
        `4,task-4,succeeded,id-3,,,studio,full-front,,"'=SUM(A1), ""really"" ",`,
        "5,,not_queued,id-3,,mdl_001,studio,full-front,,,",
        "",
      ].join("\n"),
    });
    expect(await page.locator("#saved li").allInnerTexts()).toEqual([
      "To record the decisions, run:\ncat tasks review looks.decisions.csv\nCopy",
      "To generate the rejected images again, run:\ncat tryon --rerun looks.decisions.csv\nCopy",
    ]);
    expect(await live(page)).toBe("Saved the decisions as looks.decisions.csv.");
  });

  longTest(
    "marks decisions that are not saved, and numbers each file that has others",
    readsStorage,
    async () => {
      const { page, again } = await open(
        sampleData({
          decisionsFile: "looks.decisions.round-2.csv",
          commands: { rerun: "cat tryon --rerun looks.decisions.round-2.csv" },
        }),
        {
          permissions: ["clipboard-read", "clipboard-write"],
          isOwn: true,
        },
      );
      const mark = page.locator("#unsaved");
      expect([await mark.isVisible(), await text(page, "#save")]).toEqual([false, "Save decisions"]);
      await keys(page, "j", "r");
      expect([await mark.isVisible(), await page.title()]).toEqual([true, "● Review of looks.csv"]);
      expect((await savedCsv(page)).name).toBe("looks.decisions.round-2.csv");
      expect([await mark.isVisible(), await page.title()]).toEqual([false, "Review of looks.csv"]);
      // Nothing has changed: the file is the same.
      expect((await savedCsv(page)).name).toBe("looks.decisions.round-2.csv");
      expect(await page.locator("#saved").isVisible()).toBe(true);
      await keys(page, "Home", "j", "a");
      // The commands were for the decisions before.
      expect(await page.locator("#saved").isVisible()).toBe(false);
      await keys(page, "a", "j", "a");
      expect(await text(page, "#save")).toBe("All 4 images reviewed: save");
      const other = await again();
      await expect.poll(() => text(other, "#save")).toBe("All 4 images reviewed: save");
      expect((await savedCsv(other)).name).toBe("looks.decisions.round-2-2.csv");
      await expect.poll(() => mark.isVisible()).toBe(false);
      await press(other.getByRole("button", { name: "Copy" }));
      await other.getByRole("button", { name: "Copied" }).waitFor();
      expect(await other.evaluate("navigator.clipboard.readText()")).toBe(
        "cat tryon --rerun looks.decisions.round-2-2.csv",
      );
    },
  );

  longTest("selects a command where the browser denies the clipboard", async () => {
    const { page } = await open();
    await page.evaluate("navigator.clipboard.writeText = () => Promise.reject(new Error('denied'))");
    await keys(page, "j", "r");
    await savedCsv(page);
    await press(page.getByRole("button", { name: "Copy" }).last());
    await page.getByRole("button", { name: "Press Ctrl+C" }).waitFor();
    expect(await page.evaluate("getSelection().toString()")).toBe("cat tryon --rerun looks.decisions.csv");
  });
});
