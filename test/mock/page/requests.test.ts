import { describe, expect } from "vitest";
import { longTest } from "../../support/long-test.ts";
import { row } from "../world.ts";
import { expectTexts, openingPages, texts } from "./open-page.ts";

const open = openingPages();

describe("the list of requests", () => {
  longTest("shows a request while it runs, and its response", async () => {
    const { page, send, clock } = await open("requests", { latencyMs: 5_000 });
    await page.getByText("No requests yet.").waitFor();
    const sent = send("/v1/products?limit=1");
    await page.locator(".row").waitFor();
    await expectTexts(page, ".row > .badge", ["…"]);
    clock.advance(5_000);
    await sent;
    await expectTexts(page, ".row > .badge", ["200"]);
    expect(await texts(page, ".row .key")).toEqual(["ak_mock"]);
    expect(await texts(page, ".row time")).toEqual(["09:00:00.000"]);
  });

  longTest("names keys of the mock only, and marks replays, faults and lost responses", async () => {
    const { page, send } = await open("requests");
    const bad = { json: { name: "A" }, headers: { "idempotency-key": "batch-1" } };
    await send("/v1/products", bad);
    await send("/v1/products", bad);
    await send("/v1/products", { key: "ak_live_4711" });
    await send("/v1/products", { key: null });
    await send("/_mock/faults", { json: { match: { path: "/v1/models" }, drop: "after" }, key: null });
    await expect(send("/v1/models")).rejects.toThrow();
    await expectTexts(page, ".row", [
      expect.stringMatching(/GET\s+\/v1\/models\s+fault\s+ak_mock\s+lost$/),
      expect.stringMatching(/GET\s+\/v1\/products\s+missing_api_key\s+no key\s+<?\d+ ms\s+401$/),
      expect.stringMatching(/GET\s+\/v1\/products\s+invalid_api_key\s+\*\*\*\s+<?\d+ ms\s+401$/),
      expect.stringMatching(
        /POST\s+\/v1\/products\s+invalid_request\s+replay\s+ak_mock\s*batch-1\s+<?\d+ ms\s+400$/,
      ),
      expect.stringMatching(/POST\s+\/v1\/products\s+invalid_request\s+ak_mock\s*batch-1\s+<?\d+ ms\s+400$/),
    ]);
    const kinds = async (kind: string) => {
      await page.getByLabel("Kind").selectOption(kind);
      return (await texts(page, ".row .path")).length;
    };
    expect([
      await kinds("Errors"),
      await kinds("Writes"),
      await kinds("Replays"),
      await kinds("Faults"),
    ]).toEqual([5, 2, 1, 1]);
  });

  longTest("is filtered by words, paused, cleared, and begun again by a reset", async () => {
    const { page, send, mock } = await open("requests");
    for (const path of ["/v1/products", "/v1/models", "/v1/nothing"]) await send(path);
    await expectTexts(page, ".row .path", ["/v1/nothing", "/v1/models", "/v1/products"]);
    await page.keyboard.press("/");
    await page.keyboard.type("404 NOTHING");
    await expectTexts(page, ".row .path", ["/v1/nothing"]);
    await page.getByLabel("Filter requests").fill("");
    const pause = page.getByRole("button", { name: "Pause" });
    await pause.click();
    await send("/v1/webhooks");
    await expectTexts(page, "nav .count", ["4"]);
    expect(await texts(page, ".row .path")).toEqual(["/v1/nothing", "/v1/models", "/v1/products"]);
    await pause.click();
    await expectTexts(page, ".row .path", ["/v1/webhooks", "/v1/nothing", "/v1/models", "/v1/products"]);
    await page.getByRole("button", { name: "Clear" }).click();
    await page.getByText("No request matches.").waitFor();
    await send("/v1/imports/x");
    await expectTexts(page, ".row .path", ["/v1/imports/x"]);
    mock.reset();
    await send("/v1/exports");
    await expectTexts(page, ".row .path", ["/v1/exports"]);
  });

  longTest("draws only the visible rows of a thousand, and keeps the place of a reader", async () => {
    const { page, send } = await open("requests");
    await Promise.all(Array.from({ length: 250 }, (_, at) => send(`/v1/nothing/${at}`)));
    await expectTexts(page, "nav .count", ["250"]);
    expect((await texts(page, ".row")).length).toBeLessThan(60);
    const rows = page.getByRole("listbox", { name: "Requests" });
    await rows.evaluate((one) => one.scrollTo(0, 29 * 100));
    const first = page.locator(".row").nth(10);
    await expect.poll(() => first.getAttribute("aria-posinset")).toBe("101");
    const path = await first.locator(".path").innerText();
    await send("/v1/newest");
    await expectTexts(page, "nav .count", ["251"]);
    await expect.poll(() => first.getAttribute("aria-posinset")).toBe("102");
    expect(await first.locator(".path").innerText()).toBe(path);
  });
});

describe("a selected request", () => {
  longTest("shows headers, body and response, and why it was rejected", async () => {
    const { page, send } = await open("requests");
    await send("/v1/products", { json: { name: "Dress", images: [] } });
    await page.locator(".row").click();
    const panel = page.getByLabel("Request", { exact: true });
    await panel.getByText("Request 1").waitFor();
    const part = (name: string) => panel.getByLabel(name);
    expect(JSON.parse(await part("Request body").locator("pre").innerText())).toEqual({
      name: "Dress",
      images: [],
    });
    expect(await part("Request headers").innerText()).toMatch(/authorization\s+Bearer \*\*\*/);
    const response = JSON.parse(await part("Response body").locator("pre").innerText());
    expect(response.error.code).toBe("invalid_request");
    expect(await part("Response headers").innerText()).toMatch(/x-ratelimit-limit\s+1000000/);
    expect(await texts(page, ".why li")).toEqual(["reference: is missing"]);
    await panel.getByRole("button", { name: "Close" }).click();
    await panel.waitFor({ state: "detached" });
  });

  longTest("leads from a replay to its first request, and from a 429 to the next window", async () => {
    const { page, send } = await open("requests", { rateLimit: { reads: 1, writes: 9 } });
    const headers = { "idempotency-key": "batch-1" };
    const json = { rows: [row("A")] };
    await send("/v1/imports", { json, headers });
    await send("/v1/imports", { json, headers });
    await send("/v1/products");
    await send("/v1/products");
    await expectTexts(page, "nav .count", ["4", "1"]);
    await page.locator(".row").first().click();
    await expectTexts(page, ".why li", [
      "too many requests; try again in 60 seconds",
      "1 reads per minute are used. The next window begins at 09:01:00.",
    ]);
    // Down to the replay, with the keys of the list.
    await page.getByRole("listbox", { name: "Requests" }).focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("j");
    await expectTexts(page, ".why li", [
      "The stored response of request 1 was replayed, which has the same idempotency key.",
    ]);
    await page.getByRole("button", { name: "Show request 1" }).click();
    await page.getByRole("heading", { name: "Request 1" }).waitFor();
    await page.getByRole("listbox", { name: "Requests" }).focus();
    await page.keyboard.press("Escape");
    await page.getByLabel("Request", { exact: true }).waitFor({ state: "detached" });
  });

  longTest("names the fault that hit it, and shows its response when it comes", async () => {
    const { page, send, clock } = await open("requests");
    await send("/_mock/faults", {
      json: { match: { path: "/v1/models" }, delay_ms: 3_000, times: 1 },
      key: null,
    });
    const sent = send("/v1/models");
    await page.locator(".row").click();
    await expectTexts(page, ".why li", [
      "Fault 1 acted: /v1/models: delay of 3000 ms, once.",
      "The request is in progress.",
    ]);
    clock.advance(3_000);
    await sent;
    await expectTexts(page, ".why li", ["Fault 1 acted: /v1/models: delay of 3000 ms, once."]);
    expect(await page.getByLabel("Response body").locator("pre").innerText()).toContain('"Amara"');
  });

  longTest("is copied as a curl command that gets the same response", async () => {
    const { page, send, mock } = await open(
      "requests",
      {},
      { permissions: ["clipboard-read", "clipboard-write"] },
    );
    await send("/v1/products", { json: { name: "It's" }, headers: { "idempotency-key": "k" } });
    await page.locator(".row").click();
    await page.getByRole("button", { name: "Copy as curl" }).click();
    await page.getByRole("button", { name: "Copied" }).waitFor();
    const command = await page.evaluate("navigator.clipboard.readText()");
    expect(command).toMatch(/^curl -X POST -H 'Authorization: Bearer ak_mock' /);
    expect(command).toContain(`-H 'content-type: application/json'`);
    expect(command).toContain(`-H 'idempotency-key: k'`);
    expect(command).toMatch(/ --data-raw '\{"name":"It'\\''s"\}' http:\/\/127\.0\.0\.1:\d+\/v1\/products$/);
    expect(command).toContain(mock.baseUrl);
  });
});
