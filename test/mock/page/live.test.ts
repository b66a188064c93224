import type { AddressInfo } from "node:net";
import type { Page, Request } from "playwright-core";
import { expect, onTestFinished } from "vitest";
import { MovableClock } from "../../../src/clock.ts";
import { createApp } from "../../../src/mock/app.ts";
import { openUrl } from "../../support/browser.ts";
import { longTest } from "../../support/long-test.ts";
import { until } from "../../support/until.ts";
import { silentWorld } from "../world.ts";
import { expectTexts, openingPages, texts } from "./open-page.ts";

const open = openingPages();

/** The streams that a page opens from now on, and those that have ended. */
function watchStreams(page: Page) {
  const opened: Request[] = [];
  const ended: Request[] = [];
  const isStream = (request: Request) => request.url().includes("/_mock/events");
  page.on("request", (request) => isStream(request) && opened.push(request));
  for (const event of ["requestfailed", "requestfinished"] as const)
    page.on(event as "requestfinished", (request) => isStream(request) && ended.push(request));
  return { opened, ended };
}

const show = (page: Page, isHidden: boolean) =>
  page.evaluate(`
    Object.defineProperty(document, "hidden", { configurable: true, value: ${isHidden} });
    document.dispatchEvent(new Event("visibilitychange"));
  `);

longTest(
  "a hidden page closes its stream, and continues after the last request when it is shown",
  async () => {
    const { page, send } = await open("requests");
    await send("/v1/models");
    await expectTexts(page, ".row .path", ["/v1/models"]);
    const { opened, ended } = watchStreams(page);
    await show(page, true);
    await until(() => ended.length === 1);
    await send("/v1/nothing");
    expect(await texts(page, "nav .count")).toEqual(["1"]);
    await show(page, false);
    await expectTexts(page, ".row .path", ["/v1/nothing", "/v1/models"]);
    const ids = opened.map((request) => new URL(request.url()).searchParams.get("last_event_id"));
    expect(ids).toEqual([expect.stringMatching(/^[0-9a-f]{8}-\d+\.1$/)]);
  },
);

/** The tab that is open. */
const tab = (page: Page) => page.locator('nav [aria-current="page"]').innerText();

longTest(
  "the page of the mock opens on Products, where there are some and no request has failed, and stays there",
  async () => {
    const { page, send } = await open("", { demo: 2 });
    await page.locator("main.products").waitFor();
    expect(await tab(page)).toMatch(/^Products/);
    await send("/v1/nothing");
    await expectTexts(page, "nav .count", ["1", "2"]);
    expect(await tab(page)).toMatch(/^Products/);
    await page.reload();
    await expectTexts(page, ".row .path", ["/v1/nothing"]);
    expect(await tab(page)).toMatch(/^Requests/);
  },
);

longTest(
  "the page of the mock opens on Requests without products, and on the tab that its address names",
  async () => {
    expect(await tab((await open("")).page)).toMatch(/^Requests/);
    expect(await tab((await open("control", { demo: 2 })).page)).toMatch(/^Control/);
  },
);

/** A page of a mock whose requests the test makes up. */
async function openSilent() {
  const world = silentWorld(new MovableClock());
  const server = createApp(world);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  world.baseUrl = `http://127.0.0.1:${port}`;
  onTestFinished(() => server.closeAllConnections());
  const { page, wrongs } = await openUrl(`${world.baseUrl}/_mock`, `${world.baseUrl}/_mock`);
  await page.getByText("No requests yet.").waitFor();
  const logged = {
    method: "GET",
    requestId: "r",
    headers: [],
    status: 200,
    replayed: false,
    faults: [],
    kept: null,
  };
  const log = (path: string) => world.log.add({ ...logged, at: Date.now(), path });
  return { world, server, page, wrongs, log };
}

longTest("a stream that breaks is opened again by the browser, after the last request", async () => {
  const { world, server, page, log } = await openSilent();
  log("/v1/models");
  await expectTexts(page, ".row .path", ["/v1/models"]);
  const { opened } = watchStreams(page);
  server.closeAllConnections();
  await page.getByText("not connected").waitFor();
  log("/v1/nothing");
  await expectTexts(page, ".row .path", ["/v1/nothing", "/v1/models"]);
  expect((await opened[0]!.allHeaders())["last-event-id"]).toMatch(/^[0-9a-f]{8}-\d+\.1$/);
  await page.getByText(new URL(world.baseUrl).host).waitFor();
});

longTest(
  "a page follows thousands of requests per second with ten changes per second at most, and stays usable",
  async () => {
    const { world, page, wrongs, log } = await openSilent();
    await page.evaluate(`
    globalThis.changes = 0;
    new MutationObserver(() => changes++).observe(document.querySelector("nav"), { subtree: true, characterData: true });
  `);

    const begun = performance.now();
    // A timer that is late on a busy machine logs no more for it, so what is asked of the page stays bounded.
    const timer = setInterval(() => {
      for (let logged = 0; logged < 200; logged++) log(`/v1/products/${world.log.count + 1}`);
    }, 20);
    onTestFinished(() => clearInterval(timer));
    const behind = async () => {
      const { count } = world.log;
      const shown = await page.evaluate("document.querySelector('nav .count').textContent");
      return count - Number(String(shown).replaceAll(",", ""));
    };
    for (const [key, tab] of [
      ["5", "control"],
      ["1", "requests"],
      ["2", "products"],
      ["1", "requests"],
    ] as const) {
      await page.keyboard.press(key);
      await page.locator(`main.${tab}`).waitFor();
      await expect.poll(behind).toBeLessThan(5_000);
    }
    // A list that changes ten times a second cannot be clicked.
    await page.getByRole("button", { name: "Pause" }).click();
    await page.locator(".row").first().click();
    await page.getByRole("heading", { level: 2, name: /^Request \d/ }).waitFor();
    await page.getByRole("button", { name: "Pause" }).click();
    clearInterval(timer);
    const seconds = (performance.now() - begun) / 1_000;
    const newest = `/v1/products/${world.log.count}`;
    await expect.poll(async () => (await texts(page, ".row .path"))[0]).toBe(newest);

    expect(await page.evaluate("changes")).toBeLessThanOrEqual(seconds * 10 + 6);
    // A clicked request may no longer be in the log, which keeps a tenth of a second.
    expect(wrongs.filter((wrong) => !wrong.includes("404"))).toEqual([]);
  },
);
