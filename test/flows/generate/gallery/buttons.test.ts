import type { Page } from "playwright-core";
import sharp from "sharp";
import { beforeEach, describe, expect } from "vitest";
import { needsBrowser, openFile, press } from "../../../support/browser.ts";
import { longTest } from "../../../support/long-test.ts";
import { entry, sampleData, writePage } from "./sample-page.ts";

beforeEach(needsBrowser);

const text = (page: Page, selector: string) => page.locator(selector).innerText();

/** Marks each button when it is clicked, and gives those of the page that were not. */
const watchClicks = `
  window.clicked = new Set();
  const nameOf = (one) => (one.closest("dialog")?.id ?? "page") + ": " +
    (one.dataset.reason ?? one.getAttribute("aria-label") ?? one.textContent.replace(/ \\d+ images?/, "").trim());
  addEventListener("click", ({ target }) => {
    const button = target.closest("button");
    if (button !== null) clicked.add(nameOf(button));
  }, true);
  window.notClicked = () => [...new Set([...document.querySelectorAll("button")].map(nameOf))]
    .filter((name) => !clicked.has(name)).sort();
`;

longTest("every button of the page does what it says", async () => {
  const name = "a.png";
  const png = await sharp({ create: { width: 1800, height: 2400, channels: 3, background: "#123456" } })
    .png()
    .toBuffer();
  const results = [entry({ line: 2, file: name }), entry({ line: 3 }), entry({ line: 4, image: 1 })];
  const data = sampleData({ folder: "images/", results });
  const { page, wrongs } = await openFile(await writePage(data, { [name]: png }));
  await page.evaluate(watchClicks);
  const button = (within: string, called: string) =>
    page.locator(within).getByRole("button", { name: called, exact: true });

  // Below the picture: a pressed button takes its decision back.
  await press(button(".item >> nth=0", "Approve"));
  expect(await text(page, "#tally")).toBe("1 approved, 0 rejected");
  await press(button(".item >> nth=0", "Approve"));
  expect(await text(page, "#tally")).toBe("0 approved, 0 rejected");
  await press(button(".item >> nth=0", "Reject"));
  for (const reason of ["colors", "fit", "face", "hands", "background", "other"])
    await press(button(".item >> nth=0", reason));
  await press(button(".item >> nth=0", "fit"));
  expect(await text(page, ".item >> nth=0 >> .badge")).toBe("colors, face, hands, background, other");
  await press(button("header", "Undo"));
  expect(await text(page, "#tally")).toBe("0 approved, 0 rejected");

  await press(button("header", "Keys"));
  expect(await page.locator("#keys").isVisible()).toBe(true);
  await press(button("#keys", "Close"));
  expect(await page.locator("#keys").isVisible()).toBe(false);

  await press(button("#filters", "Photos"));
  expect(await page.locator(".item .aside").isVisible()).toBe(false);
  await press(button("#filters", "Photos"));
  expect(await page.locator(".item .aside").isVisible()).toBe(true);
  await page.fill("#by-product", "nothing");
  await press(button("#empty", "Show all"));
  await expect.poll(() => text(page, "#shown")).toBe("3 images shown");
  await page.fill("#by-product", "nothing");
  await press(button("#filters", "Clear filters"));
  await expect.poll(() => text(page, "#shown")).toBe("3 images shown");

  // Approving all asks first; it is undone at once.
  await press(button(".item >> nth=1", "Reject"));
  await press(button("#filters", "Not reviewed"));
  expect(await text(page, "#shown")).toBe("2 of 3 images shown");
  expect(await page.locator("#by-decision").inputValue()).toBe("none");
  await press(button("#filters", "Not reviewed"));
  expect(await text(page, "#shown")).toBe("3 images shown");
  await press(button("#filters", "Approve all shown…"));
  expect(await text(page, "#approve-shown p")).toBe(
    "2 images that are shown and not reviewed will be approved. Rejected images stay rejected.",
  );
  await press(button("#approve-shown", "Cancel"));
  expect(await text(page, "#tally")).toBe("0 approved, 1 rejected");
  await press(button("#filters", "Approve all shown…"));
  await press(button("#approve-shown", "Approve 2 images"));
  expect(await text(page, "#tally")).toBe("2 approved, 1 rejected");
  await page.keyboard.press("u");
  expect(await text(page, "#tally")).toBe("0 approved, 1 rejected");

  // The large view.
  await press(page.locator(".picture .frame").first());
  const image = page.locator("#large .result img");
  await expect.poll(() => image.evaluate((one) => one.naturalWidth)).toBe(1800);
  await press(button("#large", "Zoom 1:1"));
  expect(await image.evaluate((one) => one.clientWidth)).toBe(1800);
  await press(button("#large", "Zoom 1:1"));
  expect(await image.evaluate((one) => one.clientWidth)).toBeLessThan(1000);
  await press(button("#large", "Next image"));
  expect(await text(page, "#large .place")).toBe("2 of 3");
  await press(button("#large", "Previous image"));
  expect(await text(page, "#large .place")).toBe("1 of 3");
  await press(page.locator("#large").getByRole("button", { name: "Reject" }));
  expect(await text(page, "#large .place")).toBe("2 of 3");
  for (const reason of ["colors", "fit", "face", "hands", "background", "other"])
    await press(button("#large", reason));
  // Undo has taken back what was chosen before.
  expect(await page.locator(".badge").first().textContent()).toBe(
    "colors, fit, face, hands, background, other",
  );
  await press(page.locator("#large").getByRole("button", { name: "Approve" }));
  expect(await text(page, "#large .place")).toBe("3 of 3");
  await press(button("#large", "Undo"));
  expect([await text(page, "#large .place"), await text(page, "#large .state")]).toEqual([
    "2 of 3",
    "rejected",
  ]);
  await press(button("#large", "Close"));
  expect(await page.locator("#large").isVisible()).toBe(false);

  await Promise.all([page.waitForEvent("download"), press(button("header", "Save decisions"))]);
  expect(await page.locator("#saved").isVisible()).toBe(true);
  await press(button("#saved", "Copy").first());
  await page
    .locator("#saved button")
    .first()
    .getByText(/Copied|Press/)
    .waitFor();
  await press(button("#saved", "Copy").first());

  await press(button("#saved", "Close"));
  expect(await page.locator("#saved").isVisible()).toBe(false);

  await page.setViewportSize({ width: 390, height: 800 });
  expect(await page.locator("#filters").isVisible()).toBe(false);
  await press(button("header", "Filters"));
  expect(await page.locator("#filters").isVisible()).toBe(true);
  const notClicked = (await page.evaluate("notClicked()")) as string[];
  expect(notClicked.filter((one) => !/^page: (Copied|Press Ctrl\+C)$/.test(one))).toEqual([]);
  expect(wrongs.filter((one) => !one.includes("ERR_FILE_NOT_FOUND"))).toEqual([]);
});

/** Moves one finger over the page, as a touch screen reports it. */
async function swipe(page: Page, selector: string, by: { x?: number; y?: number }): Promise<void> {
  const box = (await page.locator(selector).first().boundingBox())!;
  const client = await page.context().newCDPSession(page);
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  const send = (type: "touchStart" | "touchMove" | "touchEnd", step: number) =>
    client.send("Input.dispatchTouchEvent", {
      type,
      touchPoints: type === "touchEnd" ? [] : [{ x: x + (by.x ?? 0) * step, y: y + (by.y ?? 0) * step }],
    });
  await send("touchStart", 0);
  for (const step of [0.2, 0.4, 0.6, 0.8, 1]) await send("touchMove", step);
  await send("touchEnd", 1);
}

const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

longTest("no button of a card lies on its picture, in no window", async () => {
  for (const width of [1400, 390]) {
    const { page } = await openFile(await writePage(sampleData()), { viewport: { width, height: 900 } });
    const overlaps = await page.locator(".item").evaluateAll((items) =>
      items.flatMap((item) => {
        const picture = item.querySelector(".picture")!.getBoundingClientRect();
        return [...item.querySelectorAll(".decide button")].map((one) => {
          const { top, width, height } = one.getBoundingClientRect();
          return top >= picture.bottom && width > 40 && height >= 28;
        });
      }),
    );
    expect([width, overlaps.length, overlaps.every(Boolean)]).toEqual([width, 8, true]);
  }
});

describe("on a phone", () => {
  longTest("reasons are below the picture, and move to the next one that is rejected", async () => {
    const { page, wrongs } = await openFile(await writePage(sampleData()), phone);
    const picture = page.locator(".picture").first();
    const before = (await picture.boundingBox())!;
    await page.locator(".item").first().getByRole("button", { name: "Reject" }).tap();
    const notes = page.locator(".item .notes");
    const [box, below] = [(await picture.boundingBox())!, (await notes.boundingBox())!];
    expect([box.width, box.height]).toEqual([before.width, before.height]);
    expect(below.y).toBeGreaterThanOrEqual(box.y + box.height);
    expect((await page.locator(".item .product").first().boundingBox())!.y).toBeGreaterThan(below.y);
    // The middle of the picture enlarges it.
    await page.locator(".picture .frame").first().tap();
    expect(await text(page, "#large .place")).toBe("1 of 5");
    await page.locator("#large .close").tap();
    await page.locator(".item").first().getByRole("button", { name: "fit", exact: true }).tap();
    await page.locator(".item").nth(1).scrollIntoViewIfNeeded();
    await swipe(page, ".item:nth-child(2) .picture .frame", { x: -120 });
    expect(await page.locator(".item").nth(1).locator(".notes").isVisible()).toBe(true);
    expect(wrongs).toEqual([]);
  });

  longTest("a swipe to the right approves, one to the left rejects, and one down scrolls", async () => {
    const { page, wrongs } = await openFile(await writePage(sampleData()), phone);
    await swipe(page, ".picture .frame", { x: 120 });
    await expect.poll(() => text(page, "#reviewed")).toBe("1 of 4 reviewed");
    expect(await page.locator(".item").first().getAttribute("data-decision")).toBe("approve");
    await swipe(page, ".picture .frame", { x: 40 });
    await swipe(page, ".picture .frame", { y: -150 });
    await expect.poll(() => page.evaluate("scrollY")).toBeGreaterThan(0);
    expect(await page.locator(".item").first().getAttribute("data-decision")).toBe("approve");
    const second = page.locator(".item").nth(1);
    await second.scrollIntoViewIfNeeded();
    await swipe(page, ".item:nth-child(2) .picture .frame", { x: -120 });
    await expect.poll(() => second.getAttribute("data-decision")).toBe("reject");
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    expect(await text(page, "#large .place")).toBe("2 of 5");
    await swipe(page, "#large .result", { x: 120 });
    await expect.poll(() => text(page, "#large .place")).toBe("3 of 5");
    expect(wrongs).toEqual([]);
  });
});

describe("the large view", () => {
  longTest("zooms to the clicked point, and a mouse drags it", async () => {
    const name = "a.png";
    const png = await sharp({ create: { width: 1800, height: 2400, channels: 3, background: "#123456" } })
      .png()
      .toBuffer();
    const data = sampleData({ folder: "images/", results: [entry({ line: 2, file: name })] });
    const { page } = await openFile(await writePage(data, { [name]: png }));
    await page.locator(".picture .frame").click();
    const image = page.locator("#large .result img");
    await expect.poll(() => image.evaluate((one) => one.naturalWidth)).toBe(1800);
    const frame = page.locator("#large .result");
    const box = (await frame.boundingBox())!;
    const height = Math.min(box.height, (box.width * 4) / 3);
    // A point in the upper left of the image, which stays where it is.
    const point = { x: box.x + box.width / 2 - height / 8, y: box.y + box.height / 2 - height / 4 };
    await page.mouse.click(point.x, point.y);
    const shown = (await image.boundingBox())!;
    expect([shown.width, shown.height]).toEqual([1800, 2400]);
    expect((point.x - shown.x) / 1800).toBeCloseTo(0.5 - 1 / 6, 2);
    expect((point.y - shown.y) / 2400).toBeCloseTo(0.25, 2);
    await page.mouse.down();
    await page.mouse.move(point.x - 50, point.y - 60, { steps: 5 });
    await page.mouse.up();
    const dragged = (await image.boundingBox())!;
    expect([dragged.x - shown.x, dragged.y - shown.y]).toEqual([-50, -60]);
    await page.mouse.click(point.x, point.y);
    expect((await image.boundingBox())!.height).toBeLessThan(box.height + 1);
  });

  longTest("compares with the photo of the same side, and with the image that was rejected", async () => {
    const products = [
      {
        id: "id-1",
        reference: "DRESS-1",
        name: "Red dress",
        photos: [
          { image: 0, orientation: "front" },
          { image: 1, orientation: "back" },
        ],
      },
    ];
    const results = [
      entry({ line: 2, earlier: { note: "hands, six fingers", decision: "reject", image: 1 } }),
      entry({ line: 3, angleShot: "full-back", photo: 1 }),
      entry({ line: 4 }),
    ];
    const { page, wrongs } = await openFile(await writePage(sampleData({ products, results })));
    // The sides of a product are together, each after its photo.
    expect(await page.locator(".item .aside").allInnerTexts()).toEqual([
      "DRESS-1\nPhoto: front\nRed dress",
      "Before\nrejected\nhands, six fingers",
      "DRESS-1\nPhoto: back\nRed dress",
    ]);
    expect(await page.locator(".item .angle").allInnerTexts()).toEqual([
      "full-front",
      "full-front",
      "full-back",
    ]);
    await page.locator(".picture .frame").first().click();
    expect(await page.locator("#large figure:visible").allInnerTexts()).toEqual([
      "Photo",
      "Before: rejected: hands, six fingers",
      "Result",
    ]);
    await page.keyboard.press("p");
    expect(await page.locator("#large figure:visible").allInnerTexts()).toEqual(["Result"]);
    expect(wrongs).toEqual([]);
  });

  longTest(
    "on a phone the rejected image keeps its size above its note, in the corner of the large view",
    async () => {
      const earlier = { note: "hands, six fingers", decision: "reject", image: 1 } as const;
      const data = sampleData({ results: [entry({ line: 2, earlier })] });
      const { page, wrongs } = await openFile(await writePage(data), phone);
      await page.locator(".picture .frame").first().tap();
      const sizes = await page.locator("#large .aside").evaluateAll((all) =>
        all.map((aside) => {
          const { width, height } = aside.querySelector(".frame")!.getBoundingClientRect();
          return [Math.round(width), Math.round(height)];
        }),
      );
      expect(sizes).toEqual([
        [81, 109],
        [81, 109],
      ]);
      // Readable on any picture.
      expect(await page.locator("#large .earlier-note").innerText()).toBe(
        "Before: rejected: hands, six fingers",
      );
      const color = `getComputedStyle(document.querySelector("#large .earlier-note")).backgroundColor`;
      expect(await page.evaluate(color)).toBe("rgb(255, 255, 255)");
      expect(wrongs).toEqual([]);
    },
  );
});
