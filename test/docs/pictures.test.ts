import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { decideSome, galleryWindow } from "../../scripts/pictures/gallery.ts";
import { screenText } from "../../scripts/pictures/record.ts";
import { scene, shownText } from "../../scripts/pictures/scene.ts";
import { atTerminal } from "../support/at-terminal.ts";
import { needsBrowser, openFile } from "../support/browser.ts";
import { longTest } from "../support/long-test.ts";
import { createWorld } from "../support/world.ts";

/** Pictures of docs/ that show another text than the program: `npm run build && npm run pictures` makes them again. */

const root = fileURLToPath(new URL("../../", import.meta.url));
const picture = (name: string) => join(root, "docs/pictures", name);
const drawn = (name: string) =>
  /<desc>([\s\S]*)<\/desc>/
    .exec(readFileSync(picture(name), "utf8"))![1]!
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&");

/** Runs the commands of the picture as typed, with its replies. Returns the screen, prompts included. */
async function played() {
  const world = await createWorld({ mock: { rateLimit: false } });
  world.write("products.csv", readFileSync(join(root, "fixtures/products.csv"), "utf8"));
  world.write("looks.csv", scene.looks);
  const screen: string[] = [];
  for (const { command, replies = [] } of scene.commands) {
    const { ran, type } = atTerminal(world, command.replace(/^cat /, ""));
    for (const [question, keys] of replies) await type(question, keys);
    const { exit, stderr } = await ran;
    expect(exit).toBe(0);
    screen.push(`$ ${command}`, await screenText(stderr, scene.screen));
  }
  return { world, screen: screen.join("\n") };
}

longTest(
  "the pictures show the page of today and what the program prints, light and dark",
  async (context) => {
    const { world, screen } = await played();
    for (const name of ["shell-light.svg", "shell-dark.svg"])
      expect(shownText(drawn(name))).toBe(shownText(screen));
    needsBrowser(context);
    const { page, wrongs } = await openFile(join(world.folder, scene.gallery), { viewport: galleryWindow });
    expect(`${shownText(await decideSome(page))}\n`).toBe(readFileSync(picture("gallery.txt"), "utf8"));
    expect(wrongs).toEqual([]);
  },
);

longTest(
  "each picture is small, and README shows it in light and dark with a text for those who cannot see it",
  () => {
    const readme = readFileSync(join(root, "README.md"), "utf8");
    for (const [name, type] of [
      ["shell", "svg"],
      ["gallery", "png"],
    ]) {
      for (const theme of ["light", "dark"]) {
        const file = `${name}-${theme}.${type}`;
        expect(existsSync(picture(file)) && statSync(picture(file)).size).toBeLessThan(300_000);
        expect(readme).toContain(`docs/pictures/${file}`);
      }
      expect(readme).toMatch(
        new RegExp(
          `<img [^>]*src="docs/pictures/${name}-light\\.${type}"[^>]* alt="[^"]{40,}"|<img [^>]*alt="[^"]{40,}"[^>]*src="docs/pictures/${name}-light\\.${type}"`,
        ),
      );
    }
  },
);
