import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { longTest } from "../../support/long-test.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { expectTexts, openingPages } from "./open-page.ts";

const open = openingPages();

const click = (page: Page, name: string, within = "main") =>
  page.locator(within).getByRole("button", { name, exact: true }).click();
const said = (page: Page, text: string) =>
  page.getByRole("status").getByText(text, { exact: false }).waitFor();

longTest("the clock moves by a step, and by any time", async () => {
  const { page, clock } = await open("control");
  await expectTexts(page, ".big", ["09:00:00 2026-01-05 UTC"]);
  await click(page, "Move the clock by 1 hour");
  await said(page, "The clock was moved by 1 hour.");
  await expectTexts(page, ".big", ["10:00:00 2026-01-05 UTC"]);
  await page.getByLabel("Seconds", { exact: true }).fill("1.5");
  await page.keyboard.press("Enter");
  await said(page, "The clock was moved by 1.5 seconds.");
  expect(new Date(clock.now()).toISOString()).toBe("2026-01-05T10:00:01.500Z");
  await expectTexts(page, ".clock strong", ["10:00:01"]);
});

describe("faults", () => {
  test("are ordered by a click", async () => {
    const { page, send } = await open("control");
    let id = 0;
    for (const [name, order] of [
      ["500, once", { match: {}, times: 1, status: 500 }],
      ["429, once", { match: {}, times: 1, status: 429 }],
      ["503 for a third of all requests", { match: {}, probability: 0.33, status: 503 }],
      [
        "No response after an import was accepted",
        { match: { method: "POST", path: "/v1/imports" }, times: 1, drop: "after" },
      ],
      ["Every request 3 s late", { match: {}, delay_ms: 3_000 }],
      ["Half a response", { match: {}, times: 1, truncate: 100 }],
      [
        "The next task fails",
        {
          match: { job: "task" },
          times: 1,
          fail: { code: "model_unsafe_content", message: "this failure comes from a fault" },
        },
      ],
      [
        "The next import fails",
        {
          match: { job: "import" },
          times: 1,
          fail: { code: "internal_error", message: "this failure comes from a fault" },
        },
      ],
    ] as const) {
      await click(page, name);
      await click(page, "Add fault");
      await said(page, `Fault ${++id} was added.`);
      expect((await send("/_mock/faults", { key: null })).body.at(-1)).toEqual({ id, ...order, acted: 0 });
    }
  });

  longTest("are ordered by the fields, listed with how often they acted, and removed", async () => {
    const { page, send } = await open("control");
    await page.getByLabel("Effect").selectOption("Delay");
    await page.getByLabel("Milliseconds").fill("0");
    await page.getByLabel("Method").selectOption("GET");
    await page.getByLabel("Path begins with").fill("/v1/mo");
    await page.getByLabel("Times").fill("2");
    await page.getByLabel("Percent").fill("100");
    await page.keyboard.press("Enter");
    await expectTexts(page, ".faults li", [
      "1 GET /v1/mo: delay of 0 ms, 2 times, 100 % of the time acted 0 times",
    ]);
    await send("/v1/models");
    await expectTexts(page, ".faults .hint", ["acted once"]);
    await page.getByLabel("Path begins with").fill("/_mock");
    await click(page, "Add fault");
    await said(page, "match.path: faults do not apply to /_mock");
    await click(page, "Remove all faults");
    await said(page, "1 fault removed.");
    await expectTexts(page, ".faults li", []);
    expect((await send("/_mock/faults", { key: null })).body).toEqual([]);
  });
});

test("credits and rate limits are set per organization", async () => {
  const { page, send } = await open("control", { rateLimit: { reads: 10, writes: 5 } });
  const account = page.getByLabel("ak_mock", { exact: true });
  await account.getByLabel("Credits").fill("3");
  await account.getByRole("button", { name: "Set" }).click();
  await said(page, "ak_mock: 3 credits.");
  expect((await send("/_mock/account", { key: null })).body).toEqual({ organization: "main", credits: 3 });
  await account.getByText("Credits: 3").waitFor();
  await account.getByRole("button", { name: "No limit" }).click();
  await account.getByText("Credits: no limit").waitFor();

  await account.getByText("0 of 10 reads this minute").waitFor();
  await account.getByRole("button", { name: "Use up the reads" }).click();
  await account.getByText("10 of 10 reads this minute").waitFor();
  expect((await send("/v1/models")).status).toBe(429);
  expect((await send("/v1/models", { key: "ak_mock_other" })).status).toBe(200);
  await account.getByRole("button", { name: "Begin it now" }).click();
  await account.getByText("0 of 10 reads this minute").waitFor();
  expect((await send("/v1/models")).status).toBe(200);
});

longTest("the state is saved, loaded and reset", async () => {
  const { page, mock } = await open("control", { demo: 2 });
  const products = () => mock.state().organizations.main.products.length;
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("link", { name: "Save" }).click(),
  ]);
  expect(download.suggestedFilename()).toBe("mock-state.json");
  const file = join(temporaryFolder(), "edited.json");
  const state = mock.state();
  state.organizations.main.products.pop();
  await writeFile(file, JSON.stringify(state));
  await page.getByLabel("State file").setInputFiles(file);
  await said(page, "The state in edited.json was loaded.");
  expect(products()).toBe(1);
  await writeFile(file, "{}");
  await page.getByLabel("State file").setInputFiles(file);
  await said(page, "version: ");
  await click(page, "Reset…");
  await click(page, "Cancel", "dialog");
  expect(products()).toBe(1);
  await click(page, "Reset…");
  await click(page, "Reset", "dialog");
  await said(page, "The mock was reset.");
  expect(products()).toBe(2);
});
