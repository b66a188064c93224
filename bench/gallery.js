import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { chromiumOptions } from "../test/support/chromium.js";
import { median, root } from "./pairs.js";

const results = 1_000;
const rounds = 3;
const goals = { openMs: 2_000, taskMs: 50 };

/** A gallery of a thousand results in Debian's Chromium: how soon it is open, and the longest task while it is scrolled through. */
export async function measure() {
  const folder = mkdtempSync(join(tmpdir(), "catalogue-bench-"));
  const file = join(folder, "review.html");
  execFileSync(join(root, "node_modules/.bin/tsx"), [
    join(root, "bench/gallery-page.ts"),
    file,
    String(results),
  ]);
  const browser = await chromium.launch(chromiumOptions);
  try {
    const opened = [];
    const tasks = [];
    for (let round = 0; round <= rounds; round++) {
      const found = await openAndScroll(browser, file);
      // The first round reads the file from the disk, and starts the browser's processes.
      if (round === 0) continue;
      opened.push(found.openMs);
      tasks.push(found.longestMs);
    }
    const size = `${(statSync(file).size / 1e6).toFixed(1)} MB`;
    return [
      share(
        `gallery of ${results} results: open, painted and complete, as a share of 2 s`,
        median(opened),
        goals.openMs,
        size,
      ),
      share("longest task while scrolling through it, as a share of 50 ms", median(tasks), goals.taskMs),
    ];
  } finally {
    await browser.close();
    rmSync(folder, { recursive: true });
  }
}

const share = (what, value, limit, note) => ({
  what,
  ratio: value / limit,
  goal: 1,
  atMost: true,
  note: [`${value.toFixed(0)} ms`, note].filter(Boolean).join(", "),
});

async function openAndScroll(browser, file) {
  const page = await browser.newPage({ viewport: { width: 1600, height: 900 } });
  await page.goto(pathToFileURL(file).href);
  const openMs = await page.evaluate(async (wanted) => {
    const { loadEventStart } = performance.getEntriesByType("navigation")[0];
    const painted =
      performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? Number.POSITIVE_INFINITY;
    const shown = document.querySelectorAll(".item").length;
    return shown === wanted ? Math.max(loadEventStart, painted) : Number.POSITIVE_INFINITY;
  }, results);
  // Lets the first images settle: what counts is the scrolling.
  await page.waitForTimeout(500);
  await browser.startTracing(page, { categories: ["toplevel"] });
  await page.evaluate(async () => {
    while (scrollY + innerHeight < document.documentElement.scrollHeight - 1) {
      scrollBy(0, 300);
      // A browser that draws nothing for a second is asked again.
      await new Promise((resolve) => {
        requestAnimationFrame(resolve);
        setTimeout(resolve, 1_000);
      });
    }
    await new Promise((resolve) => setTimeout(resolve, 500));
  });
  const longestMs = longestTask(JSON.parse((await browser.stopTracing()).toString()).traceEvents);
  const missing = await page.evaluate(() => document.querySelectorAll(".item:last-child img").length);
  if (missing === 0) throw new Error("the last images were not shown");
  await page.close();
  return { openMs, longestMs };
}

/** The longest task of the page's main thread, in processor time: what other programs take of the machine does not count. */
function longestTask(events) {
  const threadOf = ({ pid, tid }) => `${pid}.${tid}`;
  const named = events.filter(({ name, args }) => name === "thread_name" && args.name === "CrRendererMain");
  const threads = new Set(named.map(threadOf));
  const tasks = events.filter((event) => event.name.endsWith("RunTask") && threads.has(threadOf(event)));
  if (tasks.length === 0) throw new Error("the browser reported no task");
  return Math.max(...tasks.map(({ tdur = 0 }) => tdur / 1_000));
}
