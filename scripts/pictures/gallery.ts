// Screenshots of the gallery in Debian's Chromium (`apt-get install chromium`).
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium, type Page } from "playwright-core";
import sharp from "sharp";
import { chromiumOptions } from "../../test/support/chromium.js";
import { shownText } from "./scene.ts";

/** The window of the pictures. */
export const galleryWindow = { width: 1280, height: 800 } as const;

/** Approves the first two images and rejects the third, for its colors. Returns the text of the page then. */
export async function decideSome(page: Page): Promise<string> {
  for (const key of ["j", "a", "a", "r", "1", "Escape"]) await page.keyboard.press(key);
  return page.evaluate("document.body.innerText") as Promise<string>;
}

/** Writes `NAME-light.png`, `NAME-dark.png` and their text, `NAME.txt`, into a folder. */
export async function shootGallery(page: string, folder: string, name: string): Promise<void> {
  const browser = await chromium.launch(chromiumOptions);
  try {
    for (const colorScheme of ["light", "dark"] as const) {
      const context = await browser.newContext({ viewport: galleryWindow, colorScheme });
      const tab = await context.newPage();
      await tab.goto(pathToFileURL(page).href);
      await tab.waitForFunction("[...document.images].every((image) => image.complete)");
      writeFileSync(join(folder, `${name}.txt`), `${shownText(await decideSome(tab))}\n`);
      const shot = await tab.screenshot();
      // Few colors: a third of the size, and no difference that can be seen.
      const small = await sharp(shot).png({ palette: true, colours: 128, effort: 10 }).toBuffer();
      writeFileSync(join(folder, `${name}-${colorScheme}.png`), small);
      await context.close();
    }
  } finally {
    await browser.close();
  }
}
