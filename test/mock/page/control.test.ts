import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { describe, expect } from "vitest";
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
  longTest("are ordered by a click", async () => {
    const { page, send } = await open("control");
    let id = 0;
    const orders = [
      ["500, once", { match: {}, times: 1, status: 500 }],
      ["429, once", { match: {}, times: 1, status: 429 }],
      ["503 for a third of all requests", { match: {}, probability: 0.33, status: 503 }],
      [
        "The page of a gateway",
        {
          ...{ match: {}, times: 1, status: 502, body: "<h1>502 Bad Gateway</h1>" },
          headers: { "Content-Type": "text/html", "X-Request-Id": null },
        },
      ],
      [
        "No response after an import was accepted",
        { match: { method: "POST", path: "/v1/imports" }, times: 1, drop: "after" },
      ],
      [
        "Crash after an import was accepted",
        { match: { method: "POST", path: "/v1/imports" }, times: 1, drop: "crash" },
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
      ["A delivery twice", { match: { event: "any" }, times: 1, duplicate: 1 }],
      ["A wrong signature", { match: { event: "any" }, times: 1, signature: "wrong" }],
    ] as const;
    for (const [name, order] of orders) {
      await click(page, name);
      await click(page, "Add fault");
      await said(page, `Fault ${++id} was added.`);
      expect((await send("/_mock/faults", { key: null })).body.at(-1)).toEqual({ id, ...order, acted: 0 });
    }
  });

  longTest("are ordered by the fields, listed with how often they acted, and removed", async () => {
    const { page, send } = await open("control");
    await page.getByLabel("Effect").selectOption("Delay in milliseconds");
    await page.getByRole("spinbutton", { name: "Delay in milliseconds" }).fill("0");
    await page.getByLabel("Method").fill("GET");
    await page.getByLabel("Path begins with").fill("/v1/mo");
    await page.getByLabel("Times").fill("2");
    await page.getByLabel("Probability").fill("1");
    await page.keyboard.press("Enter");
    await expectTexts(page, ".faults li", [
      "1 GET /v1/mo: delay of 0 ms, 2 times, 100 % of the time acted 0 times Remove",
    ]);
    await send("/v1/models");
    await expectTexts(page, ".faults .hint", ["acted once"]);
    await page.getByLabel("Path begins with").fill("/_mock");
    await click(page, "Add fault");
    await expectTexts(page, ".problems li", ["match.path: faults do not apply to /_mock"]);
    await click(page, "Remove all faults");
    await said(page, "1 fault removed.");
    await expectTexts(page, ".faults li", []);
    expect((await send("/_mock/faults", { key: null })).body).toEqual([]);
  });

  longTest("have a field for every field of the schema, by what they act on and do", async () => {
    const { page, send } = await open("control");
    const { paths } = (await send("/_mock/openapi.json", { key: null })).body;
    const { properties } = paths["/_mock/faults"].post.requestBody.content["application/json"].schema;
    const form = page.getByLabel("Faults", { exact: true }).locator("form");
    const labels = new Set<string>();
    for (const kind of ["requests", "jobs", "webhook deliveries"]) {
      await form.getByLabel("Acts on").selectOption(kind);
      const effects = form.getByLabel("Effect");
      for (const effect of await effects.locator("option").allInnerTexts()) {
        await effects.selectOption(effect);
        for (const text of await form
          .locator("label")
          .evaluateAll((all) => all.map((one) => one.firstChild?.textContent ?? "")))
          labels.add(text);
      }
    }
    const { match, fail, ...others } = properties;
    const shown = [match.properties, fail.properties, others].flatMap((fields) =>
      Object.values<{ title: string }>(fields),
    );
    expect([...labels].sort()).toEqual(
      [...new Set([...shown.map(({ title }) => title), "Acts on", "Effect"])].sort(),
    );
  });

  longTest("match by pattern and query, skip, and act in sequence", async () => {
    const { page, send } = await open("control");
    await page.getByLabel("Effect").selectOption("Sequence");
    const form = page.getByLabel("Faults", { exact: true });
    await form.getByLabel("Sequence", { exact: true }).fill('[{ "status": 503 }, {}]');
    await form.getByLabel("Pattern of the path").fill("/v1/{list}");
    await form.getByLabel("Query").fill("limit: 1\ncursor");
    await form.getByLabel("Skip").fill("1");
    await click(page, "Add fault");
    await said(page, "Fault 1 was added.");
    expect((await send("/_mock/faults", { key: null })).body).toEqual([
      {
        ...{ id: 1, match: { pattern: "/v1/{list}", query: { limit: "1", cursor: null } }, skip: 1 },
        ...{ sequence: [{ status: 503 }, {}], acted: 0 },
      },
    ]);
    await expectTexts(page, ".faults li", [
      '1 /v1/{list}, query {"limit":"1","cursor":null}: sequence [{"status":503},{}], after 1 matches acted 0 times Remove',
    ]);
  });

  longTest("send any headers and body, list every mistake, and are removed one by one", async () => {
    const { page, send } = await open("control");
    const fill = async (values: Record<string, string>) => {
      for (const [label, value] of Object.entries(values))
        await page.getByLabel(label, { exact: true }).fill(value);
      await click(page, "Add fault");
    };
    await fill({ Status: "99", Headers: "Content-Length: 3\nNo name: 1", Times: "2" });
    await expectTexts(page, ".problems li", [
      "status: must be at least 200",
      "headers.Content-Length: is set by the mock; truncate sends a part of a body",
      "headers.No name: must be a header name",
    ]);
    await fill({ Status: "418", Headers: "X-Tea: a: b\n\nX-Request-Id", Body: '{ "tea": true }' });
    await said(page, "Fault 1 was added.");
    await expectTexts(page, ".problems li", []);
    const { status, headers, body } = await send("/v1/models");
    expect([status, headers.get("x-tea"), headers.get("x-request-id"), body]).toEqual([
      ...[418, "a: b", null],
      { tea: true },
    ]);
    await fill({ Body: "{ not JSON" });
    await expectTexts(page, ".faults li", [
      '1 any request: status 418, headers {"X-Tea":"a: b","X-Request-Id":null}, body {"tea":true}, 2 times acted once Remove',
      '2 any request: status 418, headers {"X-Tea":"a: b","X-Request-Id":null}, body { not JSON, 2 times acted 0 times Remove',
    ]);
    await click(page, "Remove fault 1");
    await said(page, "Fault 1 was removed.");
    expect((await send("/v1/models")).body).toBe("{ not JSON");
    expect((await send("/_mock/faults", { key: null })).body.map(({ id }: { id: number }) => id)).toEqual([
      2,
    ]);
  });
});

longTest("credits and rate limits are set per organization", async () => {
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

longTest("any part is made from an example, and every mistake is listed", async () => {
  const { page, send, mock } = await open("control", { demo: 1 });
  const form = page.getByLabel("Any part", { exact: true });
  const id = () => form.getByLabel("ID or key").inputValue();
  const make = async (title: string, kind: string) => {
    await form.getByRole("button", { name: title, exact: true }).click();
    await expect.poll(() => form.getByLabel("Kind").inputValue()).toBe(kind);
    await form.getByRole("button", { name: "Create or change" }).click();
    await said(page, `${await id()} is in the mock.`);
    await page.getByRole("status").getByRole("button", { name: "Close" }).click();
    return JSON.parse(await form.locator("pre").innerText());
  };
  const newest = mock.state().organizations.main.products.at(-1)!.id;
  const assets = async () =>
    (await send("/v1/exports?limit=9")).body.data.flatMap((one: { assets: object[] }) => one.assets);
  const edited = await make("Edited image", "assets");
  expect(await assets()).toContainEqual({ ...edited, url: expect.any(String) });
  expect([edited.derived, (await send(`/_mock/page/products/${newest}`)).body.generations.length]).toEqual([
    true,
    1,
  ]);
  expect(await make("Recolored image", "assets")).toMatchObject({ attributes: { color: "#aa0000" } });
  expect(await make("Watermarked image", "assets")).toMatchObject({ watermarked: true });
  expect(await make("Product without a reference", "products")).toMatchObject({ reference: null });
  expect((await send(`/v1/products/${await id()}`)).body.name).toBe("Made in the dashboard");
  expect(await make("Private model without a preview", "models")).toMatchObject({
    preview_url: null,
    is_public: false,
  });
  await make("API key with one scope", "keys");
  expect((await send("/v1/models", { key: "ak_mock_ci" })).status).toBe(403);
  expect((await make("Revoked API key", "keys")).revoked_at).not.toBeNull();
  expect(await make("Crashed request", "idempotency-keys")).toMatchObject({ key: "order-7" });

  await form.getByLabel("Kind").selectOption("Asset");
  await expect.poll(id).toMatch(/^[0-9A-Z]{26}$/);
  await form.getByLabel("Fields as JSON").fill('{ "edit_number": 0, "color": "red" }');
  await form.getByRole("button", { name: "Create or change" }).click();
  await expectTexts(page, ".problems li", ["edit_number: must be at least 1", "unknown field color"]);
  await form.getByLabel("Fields as JSON").fill("{");
  await form.getByRole("button", { name: "Create or change" }).click();
  await expectTexts(page, ".problems li", [expect.stringContaining("JSON")]);
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
