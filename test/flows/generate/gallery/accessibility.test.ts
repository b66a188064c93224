import { beforeEach, describe, expect } from "vitest";
import { needsBrowser, openFile } from "../../../support/browser.ts";
import { longTest } from "../../../support/long-test.ts";
import { sampleData, writePage } from "./sample-page.ts";

beforeEach(needsBrowser);

const open = async (options?: Parameters<typeof openFile>[1]) =>
  (await openFile(await writePage(sampleData()), options)).page;

/** Reads in the page what each match of a selector gives. */
const inPage = (expression: string) => `Array.from(document.querySelectorAll(${expression})`;

describe("the page of a gallery", () => {
  longTest("has a language, a title, one main heading and landmarks", async () => {
    const page = await open();
    expect(await page.evaluate("[document.documentElement.lang, document.title]")).toEqual([
      "en",
      "Review of looks.csv",
    ]);
    expect(await page.evaluate(`${inPage("'h1, h2'")}, (one) => one.localName)`)).toEqual([
      "h1",
      "h2",
      "h2",
      "h2",
      "h2",
      "h2",
    ]);
    expect(
      await page.evaluate(
        "['header', 'search', 'main', 'footer'].map((name) => document.querySelectorAll('body > ' + name).length)",
      ),
    ).toEqual([1, 1, 1, 1]);
    expect(
      await page.evaluate(
        `${inPage("'section'")}, (one) => document.getElementById(one.getAttribute('aria-labelledby')).textContent)`,
      ),
    ).toEqual(["DRESS-1", "COAT-2"]);
  });

  longTest("names every control and image", async () => {
    const page = await open();
    await page.locator(".missing").waitFor();
    const nameless =
      await page.evaluate(`${inPage("'button, a, input, select, progress, img, article, dialog, [role=group], fieldset'")})
      .filter((one) => !(one.getAttribute("aria-label") || one.getAttribute("aria-labelledby") || one.alt ||
        one.labels?.[0]?.textContent.trim() || one.closest("template") || (one.localName === 'button' || one.localName === 'a') && one.textContent.trim()))
      .map((one) => one.outerHTML)`);
    expect(nameless).toEqual([]);
    const ids = (await page.evaluate(`${inPage("'[id]'")}, (one) => one.id)`)) as string[];
    expect(new Set(ids).size).toBe(ids.length);
  });

  longTest("takes Tab through the header, the filters, and one card with its controls", async () => {
    const page = await open();
    const order: string[] = [];
    for (let at = 0; at < 15; at++) {
      await page.keyboard.press("Tab");
      order.push(
        (await page.evaluate(
          "((one) => one.getAttribute('aria-label') ?? one.labels?.[0]?.textContent ?? one.textContent)(document.activeElement)",
        )) as string,
      );
    }
    expect(order.map((one) => one.trim())).toEqual([
      "Skip to the images",
      "Keys",
      "Save decisions",
      "Product",
      "Model",
      "Background",
      "Angle",
      "Status",
      "Decision",
      "Not reviewed",
      "Photos",
      "Approve all shown…",
      "DRESS-1, Amara, studio, full-front, not reviewed",
      "Reject",
      "Approve",
    ]);
  });

  longTest("keeps Tab in the large view, and gives the focus back", async () => {
    const page = await open();
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    for (let at = 0; at < 12; at++) {
      await page.keyboard.press("Tab");
      expect(
        await page.evaluate(
          "document.activeElement === document.body || document.activeElement.closest('dialog') !== null",
        ),
      ).toBe(true);
    }
    await page.keyboard.press("Escape");
    expect(await page.evaluate("document.activeElement.getAttribute('aria-label')")).toBe(
      "DRESS-1, Amara, studio, full-front, not reviewed",
    );
  });

  longTest("shows where the focus is", async () => {
    const page = await open();
    await page.keyboard.press("j");
    const outline = "getComputedStyle(document.activeElement).outline";
    expect(await page.evaluate(outline)).toMatch(/solid 3px/);
    await page.keyboard.press("Tab");
    expect(await page.evaluate(outline)).toMatch(/solid 3px/);
  });

  longTest.each(["light", "dark"] as const)("has enough contrast in %s colors", async (colorScheme) => {
    const page = await open({ colorScheme });
    const color = async (name: string) =>
      (await page.evaluate(
        `getComputedStyle(document.documentElement).getPropertyValue("--${name}")`,
      )) as string;
    const pairs = [
      ...["page", "surface", "frame", "warning"].map((behind) => ["text", behind, 4.5] as const),
      ...["page", "surface", "frame"].map((behind) => ["quiet", behind, 4.5] as const),
      ["main", "surface", 4.5],
      ["on-main", "main", 4.5],
      ["reject", "surface", 4.5],
      ["on-decision", "approve", 4.5],
      ["on-decision", "reject", 4.5],
      ["control", "surface", 3],
      ["focus", "page", 3],
      ["focus", "surface", 3],
      ["approve", "page", 3],
      ["reject", "page", 3],
    ] as const;
    const short: string[] = [];
    for (const [one, other, least] of pairs) {
      const ratio = contrast(await color(one), await color(other));
      if (!(ratio >= least)) short.push(`${one} on ${other}: ${ratio.toFixed(2)}`);
    }
    expect(short).toEqual([]);
  });

  longTest.each([
    ["reduce", "0s"],
    ["no-preference", "0.12s"],
  ] as const)("moves as little as the person wants: %s", async (reducedMotion, duration) => {
    const page = await open({ reducedMotion });
    expect(await page.evaluate("getComputedStyle(document.querySelector('#save')).transitionDuration")).toBe(
      duration,
    );
  });

  longTest("fits a window of 320 pixels", async () => {
    const page = await open({ viewport: { width: 320, height: 600 } });
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(320);
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    expect(await page.evaluate("document.querySelector('#large').scrollWidth")).toBeLessThanOrEqual(320);
  });
});

/** The contrast of two colors, as #rgb or #rrggbb (WCAG 2.2, 1.4.3). */
function contrast(one: string, other: string): number {
  const [light, dark] = [one, other].map(luminance).sort((a, b) => b - a) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

function luminance(color: string): number {
  const digits = color.replace("#", "");
  const pairs =
    digits.length === 3 ? Array.from(digits, (digit) => digit + digit) : (digits.match(/../g) ?? []);
  const [red, green, blue] = pairs
    .map((pair) => Number.parseInt(pair, 16) / 255)
    .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)) as [
    number,
    number,
    number,
  ];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
