import { existsSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { type Browser, type BrowserContextOptions, chromium, type Locator, type Page } from "playwright-core";
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

/** The browser of all files of a worker. */
let browser: Promise<Browser> | undefined;

/** The hook that fixtures of Vitest with `scope: "worker"` use: at the end of a file, the browser is needed for the next one. */
const { __vitest_worker__: worker } = globalThis as unknown as {
  __vitest_worker__: { onCleanup(action: () => Promise<void>): void };
};

async function launch(): Promise<Browser> {
  const launched = await chromium.launch(chromiumOptions);
  worker.onCleanup(() => launched.close());
  return launched;
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

const viewport = { width: 1000, height: 900 };

/** Pages that tests have left, by their options, and later ones take: to open a new one takes four times as long. */
const left = new Map<string, Opened>();

/** Opens a file. With `isOwn`, the page is no other test's: for scripts, storage and permissions that outlast a test. */
export async function openFile(
  path: string,
  { isOwn = false, ...given }: BrowserContextOptions & { isOwn?: boolean } = {},
): Promise<Opened> {
  const url = pathToFileURL(path).href;
  if (isOwn) return openUrl(url, "file:", given);
  const options = { viewport, ...given };
  const key = JSON.stringify(options);
  const opened = left.get(key) ?? (await openPage("file:", options));
  left.delete(key);
  // A test that has failed may still act on its page.
  onTestFinished(({ task }) =>
    task.result?.state === "fail" ? opened.page.context().close() : leave(opened, key, options),
  );
  await opened.page.goto(url);
  return opened;
}

/** Leaves a page to the next test, as it was when it was new. */
async function leave(opened: Opened, key: string, { viewport }: BrowserContextOptions): Promise<void> {
  const { page, wrongs } = opened;
  if (left.has(key) || page.context().pages().length > 1) return page.context().close();
  await page.evaluate("localStorage.clear()");
  await page.setViewportSize(viewport!);
  await page.mouse.move(0, 0);
  wrongs.splice(0);
  left.set(key, opened);
}

/** Opens a URL in a browser profile of its own, which is closed after the test. The page may load only what begins with `place`. */
export async function openUrl(
  url: string,
  place: string,
  given: BrowserContextOptions = {},
): Promise<Opened> {
  const opened = await openPage(place, given);
  onTestFinished(() => opened.page.context().close());
  await opened.page.goto(url);
  return opened;
}

async function openPage(place: string, given: BrowserContextOptions): Promise<Opened> {
  browser ??= launch();
  const context = await (await browser).newContext({ viewport, ...given });
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
    return page;
  };
  const page = await open();
  const again = async () => {
    const other = await open();
    await other.goto(page.url());
    return other;
  };
  return { page, wrongs, again };
}

/**
 * Clicks the middle of an element, which must not be covered. Locator.click waits for several frames, in case the element moves:
 * that takes four times as long.
 */
export async function press(locator: Locator): Promise<void> {
  const middle = await locator.evaluate((element) => {
    element.scrollIntoView({ block: "nearest", inline: "nearest", behavior: "instant" });
    const { x, y, width, height } = element.getBoundingClientRect();
    const at = [x + width / 2, y + height / 2] as const;
    const hit = element.ownerDocument.elementFromPoint(...at);
    if (!element.contains(hit)) throw new Error(`${element.outerHTML} is covered by ${hit?.outerHTML}`);
    if (element.matches(":disabled")) throw new Error(`${element.outerHTML} is disabled`);
    return at;
  });
  await locator.page().mouse.click(...middle);
}
