import { existsSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { onTestFinished } from "vitest";
import { chromiumOptions } from "./chromium.js";

/** Missing programs that were warned about. */
const warned = new Set<string>();

/** Skips a test of a page where no page can be opened, and says why. */
export function needsBrowser({ skip }: { skip: (note: string) => void }): void {
  const program = chromiumOptions.executablePath;
  if (existsSync(program)) return;
  const note = `${program} is missing: apt-get install chromium`;
  // Reporters show the note of a skipped test only if they list every test.
  if (!warned.has(program)) process.stderr.write(`${note}. Tests of pages are skipped.\n`);
  warned.add(program);
  skip(note);
}

let browser: Promise<Browser> | undefined;

export async function closeBrowser(): Promise<void> {
  await (await browser)?.close();
  browser = undefined;
}

/** What a page did that it must not: requests to anywhere but its own place, errors, and violations of its policy. */
export interface Opened {
  page: Page;
  wrongs: string[];
  /** Opens the same page in another window of the same browser. */
  again(): Promise<Page>;
}

/**
 * Options of a test that reads what another page has stored. On a busy machine, one load in some hundred gets a storage of
 * Chromium that is empty and keeps nothing, until the page is loaded again.
 */
export const readsStorage = { retry: 2 };

/** Opens a file in a browser profile of its own, which is closed after the test. */
export const openFile = (path: string, given: BrowserContextOptions = {}): Promise<Opened> =>
  openUrl(pathToFileURL(path).href, "file:", given);

/** Opens a URL like a file. The page may load only what begins with `place`. */
export async function openUrl(
  url: string,
  place: string,
  given: BrowserContextOptions = {},
): Promise<Opened> {
  browser ??= chromium.launch(chromiumOptions);
  const context = await (await browser).newContext({ viewport: { width: 1000, height: 900 }, ...given });
  onTestFinished(() => context.close());
  context.setDefaultTimeout(50_000);
  const wrongs: string[] = [];
  const open = async () => {
    const page = await context.newPage();
    page.on("request", (request) => {
      const isOwn = request.url().startsWith(place) || /^(data|blob):/.test(request.url());
      if (!isOwn) wrongs.push(`request ${request.url()}`);
    });
    page.on("pageerror", (error) => wrongs.push(`error ${error.message}`));
    page.on("console", (message) => wrongs.push(`${message.type()} ${message.text()}`));
    page.on("dialog", (dialog) => {
      wrongs.push(`dialog ${dialog.message()}`);
      void dialog.dismiss();
    });
    await page.goto(url);
    return page;
  };
  return { page: await open(), wrongs, again: open };
}
