import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { BrowserContextOptions, Page } from "playwright-core";
import { afterEach, beforeEach, expect } from "vitest";
import type { MockOptions } from "../../../src/mock/index.ts";
import { needsBrowser, type Opened, openUrl } from "../../support/browser.ts";
import { startWorld } from "../world.ts";

/** What Chromium writes to its console when the mock rejects a request of the page. */
const rejected = "Failed to load resource: the server responded with a status of 4";

/** For tests of one file: a mock with its page in a browser, which may do nothing that a page must not. */
export function openingPages() {
  const opened: Opened[] = [];
  beforeEach(needsBrowser);
  afterEach(() => {
    const wrongs = opened.splice(0).flatMap((one) => one.wrongs);
    expect(wrongs.filter((wrong) => !wrong.includes(rejected))).toEqual([]);
  });
  return async (
    tab: string,
    options: MockOptions = {},
    { mayDoWrong = false, ...browserOptions }: BrowserContextOptions & { mayDoWrong?: boolean } = {},
  ) => {
    const world = await startWorld(options);
    const url = `${world.mock.baseUrl}/_mock`;
    const one = await openUrl(`${url}#${tab}`, url, browserOptions);
    if (!mayDoWrong) opened.push(one);
    await one.page.locator("main").waitFor();
    return { ...world, page: one.page };
  };
}

/** The texts of all matches, as a reader sees them, without empty lines. */
export const texts = async (page: Page, selector: string): Promise<string[]> =>
  (await page.locator(selector).allInnerTexts()).map((text) => text.trim().replaceAll(/\n+/g, "\n"));

/** Waits until the matches have these texts. */
export const expectTexts = (page: Page, selector: string, wanted: unknown) =>
  expect.poll(() => texts(page, selector)).toEqual(wanted);

/** A server on another origin, whose page runs a script. */
export async function startPageOfAnotherOrigin(script: string) {
  const server = createServer((_request, response) => {
    response.setHeader("content-type", "text/html");
    response.end(`<!doctype html><title>Other</title><script>${script}</script>`);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, stop: () => server.close() };
}
