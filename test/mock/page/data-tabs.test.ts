import sharp from "sharp";
import { describe, expect } from "vitest";
import { secretKeys } from "../../../src/mock/rules/api-keys.ts";
import { longTest } from "../../support/long-test.ts";
import { startReceiver } from "../receiver.ts";
import { row, startWorld } from "../world.ts";
import { expectTexts, openingPages, texts } from "./open-page.ts";

const open = openingPages();

/** Whether every picture in view has loaded. */
const loaded = "Array.from(document.images).every((one) => one.complete && one.naturalWidth === 600)";

describe("products", () => {
  longTest("are shown with pictures, page by page, and found by words", async () => {
    const count = 60;
    const { page, send, upload, importRows, clock } = await open("products");
    // Wide as the pictures that the mock draws, but faster.
    const picture = await sharp({ create: { width: 600, height: 1, channels: 3, background: "#123456" } })
      .png()
      .toBuffer();
    const images = [{ image_id: (await upload(picture)).body.id, orientation: "front" }];
    await importRows(Array.from({ length: count }, (_, at) => row(`R-${at}`, { images })));
    clock.advance(60_000);
    const { data } = (await send("/v1/products?limit=100")).body;
    const references = data.map((product: { reference: string }) => product.reference);
    await expectTexts(page, ".card .mono", references.slice(0, 48));
    await expect.poll(() => page.evaluate(loaded)).toBe(true);
    await page.getByRole("button", { name: "Next" }).click();
    await expectTexts(page, ".card .mono", references.slice(48));
    expect(await page.getByRole("button", { name: "Next" }).isDisabled()).toBe(true);
    expect(await texts(page, ".place")).toEqual(["Page 2"]);
    await page.getByLabel("Search products").fill(references[count - 1].toLowerCase());
    await expectTexts(page, ".card .mono", [references[count - 1]]);
    expect(await texts(page, ".place")).toEqual(["Page 1"]);
    await page.getByLabel("Search products").fill("nothing has this name");
    await page.getByText("No product matches.").waitFor();
    await page.getByLabel("Search products").fill("");
    await page.getByRole("button", { name: "Next" }).click();
    await page.getByRole("button", { name: "Previous" }).click();
    await expectTexts(page, ".card .mono", references.slice(0, 48));
  });

  longTest("appear, change and vanish live, for the organization that is chosen", async () => {
    const { page, send, createProduct, mock } = await open("products");
    await page.getByText("No products yet.").waitFor();
    const { id } = (await createProduct()).body;
    await expectTexts(page, ".card .name", ["A dress"]);
    await send(`/v1/products/${id}`, {
      method: "PATCH",
      json: { name: "A skirt" },
      headers: { "content-type": "application/merge-patch+json" },
    });
    await expectTexts(page, ".card .name", ["A skirt"]);
    await createProduct({ name: "Of another shop" }, { key: "ak_mock_other" });
    await page.getByLabel("Organization").selectOption("other");
    await expectTexts(page, ".card .name", ["Of another shop"]);
    mock.reset();
    await page.getByText("No products yet.").waitFor();
  });

  longTest("are shown from the first page again when the page has none left", async () => {
    const { page, send, mock } = await open("products", { demo: 49 });
    await page.getByRole("button", { name: "Next" }).click();
    await expect.poll(() => page.locator(".card").count()).toBe(1);
    const [oldest] = mock.state().organizations.main.products;
    await send(`/v1/products/${oldest!.id}`, { method: "DELETE" });
    await page.getByText("Page 1").waitFor();
    await expect.poll(() => page.locator(".card").count()).toBe(48);
  });

  longTest("open with all their pictures and fields", async () => {
    const { page, send, clock } = await open("products", { demo: 1 });
    const [product] = (await send("/v1/products")).body.data;
    const inputs = [
      { product_id: product.id, model_id: "mdl_001", background: "studio", angle_shot: "full-front" },
    ];
    await send("/v1/tasks/tryon", { json: { inputs } });
    clock.advance(20_000);
    await page.locator(".card").click();
    const dialog = page.getByRole("dialog", { name: "Product" });
    await dialog.getByText(product.name).waitFor();
    expect(await texts(page, "dialog dd")).toEqual([product.id, product.created_at, product.updated_at]);
    expect(await texts(page, "dialog li")).toEqual([
      ...product.images.map(({ orientation, origin }: Record<string, string>) => `${orientation}\n${origin}`),
      "full-front\ntryon, studio",
    ]);
    await expect.poll(() => page.evaluate(loaded)).toBe(true);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
  });
});

longTest("jobs show their progress, problems and pictures", async () => {
  const { page, send, importRows, clock } = await open("jobs", { demo: 1 });
  await page.getByText("No imports, exports or tasks yet.").waitFor();
  const bad = row("B", { images: [{ url: "https://cdn.example.com/fail-timeout.jpg" }] });
  const rows = [row("A"), bad, ...Array.from({ length: 98 }, (_, at) => row(`R-${at}`))];
  const job = (await importRows(rows)).body;
  const [product] = (await send("/v1/products")).body.data;
  const input = {
    product_id: product.id,
    model_id: "mdl_001",
    background: "studio",
    angle_shot: "full-front",
  };
  const task = (await send("/v1/tasks/tryon", { json: { inputs: [input] } })).body.tasks[0];
  const zip = (await send("/v1/exports", { json: { format: "zip" } })).body;
  const sections = () => texts(page, "main section");
  await expect
    .poll(sections)
    .toEqual([
      `Imports 1\nvalidating\n100 rows, upsert\n09:00:00\n0 succeeded\n${job.id}`,
      `Exports 1\nprocessing\nzip\n09:00:00\n1 products, ${zip.total_assets} assets\n${zip.id}`,
      `Tasks 1\nqueued\n${product.reference}\n09:00:00\ntryon · Amara · full-front · studio\n${task.id}`,
    ]);
  await expectTexts(page, "nav .count", ["4", "1", "3"]);
  clock.advance(1_500);
  await expect
    .poll(() =>
      page.locator("progress").evaluateAll((all) => all.map((one) => (one as { value?: number }).value)),
    )
    .toEqual([0.5, 0.06]);
  clock.advance(10_000);
  await expect
    .poll(sections)
    .toEqual([
      `Imports 1\ncompleted_with_errors\n100 rows, upsert\n09:00:00\n99 succeeded, 1 failed\n` +
        `line 2, B: image_failed: 1 of 1 images could not be attached\n${job.id}`,
      `Exports 1\ncompleted\nzip\n09:00:00\n1 products, ${zip.total_assets} assets\n${zip.id}`,
      `Tasks 1\nsucceeded\n${product.reference}\n09:00:00\ntryon · Amara · full-front · studio\n${task.id}`,
    ]);
  await expect.poll(() => page.evaluate(loaded)).toBe(true);
  expect(
    await page.locator(".pair img").evaluateAll((all) => all.map((one) => one.getAttribute("alt"))),
  ).toEqual([`Photo of ${product.reference}`, `${product.reference}, full-front, studio`]);
});

longTest(
  "webhooks show their deliveries with attempts and signatures, which are sent again by a click",
  async () => {
    const { url, received } = await startReceiver(500);
    const { page, send, importRows, clock, mock } = await open("webhooks");
    await page.getByText("No webhooks yet.").waitFor();
    const hook = (await send("/v1/webhooks", { json: { url, events: ["import.completed"] } })).body;
    await importRows([row("A")]);
    clock.advance(2_000);
    await mock.settled();
    const [delivery] = mock.deliveries();
    const [attempt] = delivery!.attempts;
    await expectTexts(page, "main section", [
      `Webhooks\nactive\n${url}\nimport.completed\n${hook.id}`,
      `Deliveries\npending\nimport.completed\n${url}\nResend\n09:00:01\n500\n${attempt!.signature}\n` +
        `Next attempt at 2026-01-05T09:01:01.010Z\nEvent ${delivery!.event_id}`,
    ]);
    await page.getByRole("button", { name: "Resend import.completed" }).click();
    await page.getByText("import.completed was sent again: 500.").waitFor();
    await expectTexts(page, ".attempts .badge", ["500", "500"]);
    expect(received).toHaveLength(2);
    await page.locator("summary").click();
    expect(JSON.parse(await page.locator("details pre").innerText())).toEqual(delivery!.event);
  },
);

longTest("a copy of a catalogue has organizations by name, because its keys are secret", async () => {
  const { mock: source } = await startWorld({ demo: 2 });
  const keys = secretKeys(() => `ak_${"7".repeat(32)}`).slice(0, 1);
  const { page, mock } = await open("requests", { state: { ...source.state(), real_data: true, keys } });
  await page.getByText(`curl -H "Authorization: Bearer $CAT_API_KEY" ${mock.baseUrl}/v1/products`).waitFor();
  await page.locator("nav a[href='#products']").click();
  await expectTexts(page, "main.products option", ["main", "other"]);
  await page.locator(".card").first().waitFor();
  await page.locator("nav a[href='#control']").click();
  const account = page.getByLabel("main", { exact: true });
  await account.getByRole("button", { name: "No limit" }).click();
  await page.getByText("main: no limit of credits.").waitFor();
  expect(await page.locator("body").innerText()).not.toContain("ak_");
});
