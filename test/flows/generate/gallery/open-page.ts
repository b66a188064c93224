import type { Page } from "playwright-core";
import { afterEach, beforeEach, expect } from "vitest";
import { needsBrowser, type Opened, openFile } from "../../../support/browser.ts";
import { sampleData, writePage } from "./sample-page.ts";

/** For tests of one file: opens pages in a browser, none of which may do what a page must not. */
export function openingPages() {
  const opened: Opened[] = [];
  beforeEach(needsBrowser);
  afterEach(() => {
    const wrongs = opened.splice(0).flatMap((one) => one.wrongs);
    expect(wrongs).toEqual([]);
  });
  return async (
    data = sampleData(),
    { saved, ...options }: Parameters<typeof openFile>[1] & { saved?: Record<string, Uint8Array> } = {},
  ) => {
    const one = await openFile(await writePage(data, saved), options);
    opened.push(one);
    return one;
  };
}

export const text = (page: Page, selector: string) => page.locator(selector).innerText();

export const keys = async (page: Page, ...names: string[]) => {
  for (const name of names) await page.keyboard.press(name);
};
