import sharp from "sharp";
import { describe, expect, test } from "vitest";
import { garmentOfPhoto } from "../../../src/mock-page/drawing/photo-drawing.ts";
import { readScene } from "../../../src/mock-page/drawing/scene.ts";
import { longTest } from "../../support/long-test.ts";
import { createWorld, type TestWorld } from "../../support/world.ts";

const rows = [
  ["A-1", "Robe rouge unie", "dress"],
  ["A-2", "Hemd gestreift, blau", "top"],
  ["A-3", "Cappotto", "coat"],
  ["KLEID-4", "Modell 12", "dress"],
  ["A-5", "Zapatos", "shoe"],
] as const;

/** A world with the products, which have photos of the front and of the back. */
async function picturesWorld(seed = 1) {
  const world = await createWorld({ mock: { seed, rateLimit: false } });
  const lines = rows.map(
    ([reference, name]) =>
      `${reference},${name.includes(",") ? `"${name}"` : name},https://cdn.example.com/${reference}.jpg,https://cdn.example.com/${reference}-b.jpg`,
  );
  world.write("products.csv", ["reference,name,image_front,image_back", ...lines, ""].join("\n"));
  expect((await world.cat("import products.csv --quiet")).exit).toBe(0);
  return world;
}

/** The images of a product: its photos, then what was generated of it. */
function imagesOf(world: TestWorld, reference: string) {
  const { products, images } = world.mock.state().organizations.main;
  const product = products.find((one) => one.reference === reference)!;
  const photos = product.images.map(({ id }) => images.find((image) => image.id === id)!);
  const generated = images.filter(({ generation }) => generation?.product_id === product.id);
  return { photos, generated };
}

async function bytesOf(world: TestWorld, id: string): Promise<Buffer> {
  const headers = { authorization: `Bearer ${world.mock.apiKey}` };
  const image = (await (await fetch(`${world.mock.baseUrl}/v1/images/${id}`, { headers })).json()) as {
    url: string;
  };
  return Buffer.from(await (await fetch(image.url)).arrayBuffer());
}

/** The color in the middle of a picture, where the garment is. */
async function colorOf(bytes: Buffer): Promise<number[]> {
  const { dominant } = await sharp(
    await sharp(bytes).extract({ left: 270, top: 400, width: 60, height: 60 }).toBuffer(),
  ).stats();
  return [dominant.r, dominant.g, dominant.b];
}

test("photos and generated images show the garment that the product is, by name or reference", async () => {
  const world = await picturesWorld();
  world.write(
    "shots.csv",
    `product_reference,subtype,background,angle_shot\n${rows.map(([reference]) => `${reference},clothing,white,front\n`).join("")}`,
  );
  expect((await world.cat("beautify shots.csv --yes --quiet")).exit).toBe(0);
  for (const [reference, , garment] of rows) {
    const { photos, generated } = imagesOf(world, reference);
    const all = [...photos.map(garmentOfPhoto), ...generated.map(({ seed }) => readScene(seed)!.garment)];
    expect(all).toHaveLength(3);
    // One garment with one seed for its color and pattern.
    expect(all.map(({ subject }) => subject)).toEqual([garment, garment, garment]);
    expect(new Set(all.map(({ seed }) => seed)).size).toBe(1);
  }
});

longTest(
  "a garment has the color that its name says, in all pictures, before backdrops of their own",
  async () => {
    const world = await picturesWorld();
    const line = "--product A-1 --background white --angle full-front --model";
    const model = world.mock.state().organizations.main.models[0]?.id ?? "";
    expect((await world.cat(`tryon ${line} ${model} --yes --quiet`)).exit).toBe(0);
    expect(
      (await world.cat("beautify --product A-1 --subtype clothing --background white --angle front --yes"))
        .exit,
    ).toBe(0);
    const { photos, generated } = imagesOf(world, "A-1");
    const pictures = await Promise.all([...photos, ...generated].map(({ id }) => bytesOf(world, id)));
    expect(pictures).toHaveLength(4);
    for (const picture of pictures) {
      const [r, g, b] = await colorOf(picture);
      expect(r! - Math.max(g!, b!)).toBeGreaterThan(60);
    }
    expect(new Set(pictures.map((picture) => picture.toString("base64"))).size).toBe(4);
  },
);

describe("the same seed and requests", () => {
  test("give the same bytes; the front, the back and another product give others", async () => {
    const [one, two] = [await picturesWorld(3), await picturesWorld(3)];
    const seen = new Set<string>();
    for (const [reference] of rows.slice(0, 2))
      for (const [at, { id }] of imagesOf(one, reference).photos.entries()) {
        const bytes = await bytesOf(one, id);
        expect(bytes.equals(await bytesOf(two, imagesOf(two, reference).photos[at]!.id))).toBe(true);
        seen.add(bytes.toString("base64"));
      }
    expect(seen.size).toBe(4);
  });
});

longTest("a subtype decides only where no word does", async () => {
  const world = await createWorld();
  world.write(
    "p.csv",
    "reference,name,image_front\nX-1,Modell 7,https://cdn.example.com/7.jpg\nX-2,Stiefel,https://cdn.example.com/8.jpg\n",
  );
  await world.cat("import p.csv --quiet");
  for (const reference of ["X-1", "X-2"])
    await world.cat(
      `beautify --product ${reference} --subtype headwear --background white --angle front --yes --quiet`,
    );
  const garments = ["X-1", "X-2"].map(
    (reference) => readScene(imagesOf(world, reference).generated[0]!.seed)!.garment.subject,
  );
  expect(garments).toEqual(["hat", "shoe"]);
});

test("a product that is renamed keeps the look of its photos", async () => {
  const world = await picturesWorld();
  const before = garmentOfPhoto(imagesOf(world, "A-1").photos[0]!);
  await world.cat("products update A-1 --name 'Blaue Hose' --quiet");
  await world.cat("beautify --product A-1 --subtype clothing --background white --angle back --yes --quiet");
  expect(readScene(imagesOf(world, "A-1").generated[0]!.seed)!.garment).toEqual(before);
});

test("products and assets that /_mock creates show what they are, too", async () => {
  const world = await createWorld();
  const put = (path: string, body: object) =>
    fetch(`${world.mock.baseUrl}/_mock/${path}`, { method: "PUT", body: JSON.stringify(body) });
  const id = "01KE6W9ZJ8Q3V5X7B2D4F6H8JK";
  const asset = "01KE6W9ZJ8Q3V5X7B2D4F6H8JM";
  await put(`products/${id}`, { name: "Manteau gris", reference: "M-1" });
  await put(`assets/${asset}`, { product_id: id, role: "source", orientation: "back" });
  const { photos } = imagesOf(world, "M-1");
  expect(photos.map(garmentOfPhoto).map(({ subject }) => subject)).toEqual(["coat", "coat"]);
  expect(photos.map(({ subject }) => subject)).toEqual(["front", "back"]);
});

longTest("a state of an earlier build, whose photos have no words, is loaded", async () => {
  const world = await picturesWorld();
  const state = world.mock.state();
  for (const image of state.organizations.main.images) {
    delete (image as { words?: string }).words;
    Object.assign(image, { subject: "" });
  }
  world.write("shop.json", JSON.stringify(state));
  const ran = await world.cat(
    "serve --mock --load shop.json --json -- node -e 'fetch(process.env.CAT_BASE_URL).then(()=>0)'",
  );
  expect(ran.exit).toBe(0);
});
