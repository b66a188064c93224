// `npm run pictures`: makes docs/pictures/ from the program as built. Needs Chromium and `script` (util-linux).
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startMock } from "../src/mock/index.ts";
import { shootGallery } from "./pictures/gallery.ts";
import { record } from "./pictures/record.ts";
import { scene } from "./pictures/scene.ts";
import { svgOf } from "./pictures/svg.ts";
import { themes } from "./pictures/themes.ts";

const root = fileURLToPath(new URL("../", import.meta.url));
const pictures = join(root, "docs/pictures");
const mostBytes = 300_000;

const folder = mkdtempSync(join(tmpdir(), "catalogue-pictures-"));
const mock = await startMock();
try {
  mkdirSync(pictures, { recursive: true });
  mkdirSync(join(folder, "bin"));
  // A new home at a place of its own would be named in the picture.
  mkdirSync(join(folder, "home/state"), { recursive: true });
  symlinkSync(join(root, "bin/cat.js"), join(folder, "bin/cat"));
  const shop = join(folder, "shop");
  mkdirSync(shop);
  copyFileSync(join(root, "fixtures/products.csv"), join(shop, "products.csv"));
  writeFileSync(join(shop, "looks.csv"), scene.looks);
  const env = {
    PATH: `${join(folder, "bin")}:${process.env.PATH}`,
    HOME: folder,
    CAT_HOME: join(folder, "home"),
    CAT_BASE_URL: mock.baseUrl,
    CAT_API_KEY: mock.apiKey,
    LC_ALL: "C.UTF-8",
    TZ: "UTC",
  };
  const recording = await record(scene.commands, { ...scene.screen, cwd: shop, env });
  for (const [name, theme] of Object.entries(themes))
    writeFileSync(join(pictures, `shell-${name}.svg`), svgOf(recording, theme, scene.title));
  await shootGallery(join(shop, scene.gallery), pictures, "gallery");
  for (const name of ["shell-light.svg", "shell-dark.svg", "gallery-light.png", "gallery-dark.png"]) {
    const { size } = statSync(join(pictures, name));
    console.log(`${name}: ${Math.round(size / 1000)} kB`);
    if (size > mostBytes) throw new Error(`${name} is larger than 300 kB`);
  }
} finally {
  await mock.stop();
  rmSync(folder, { recursive: true, force: true });
}
