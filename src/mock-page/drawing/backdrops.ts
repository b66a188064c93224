import { hexBackground } from "../../contract/value-sets.ts";
import { drawnSize } from "./garments.ts";

const { width, height } = drawnSize;
const area = (x: number, y: number, w: number, h: number, fill: string) =>
  `<rect x="${x}" y="${y}" width="${w}" height="${h}" fill="${fill}"/>`;
const all = (fill: string) => area(0, 0, width, height, fill);
const shape = (path: string, fill: string) => `<path d="${path}" fill="${fill}"/>`;
const strokes = (path: string, color: string, thickness: number) =>
  `<path d="${path}" fill="none" stroke="${color}" stroke-width="${thickness}"/>`;
const disc = (x: number, y: number, radius: number, fill: string) =>
  `<circle cx="${x}" cy="${y}" r="${radius}" fill="${fill}"/>`;
const row = (length: number, draw: (index: number) => string) =>
  Array.from({ length }, (_, index) => draw(index)).join("");

const plain: Readonly<Record<string, string>> = {
  white: "#ffffff",
  "light-grey": "#d9d9d9",
  beige: "#eadfcc",
  black: "#000000",
};

/** Scenes and floors, simple enough to be recognized at a glance. */
const places: Readonly<Record<string, readonly string[]>> = {
  floor: [
    all("#e9e2d6"),
    area(0, 470, width, 330, "#b98d5e"),
    strokes(
      row(11, (plank) => `M${plank * 60} 470L${plank * 150 - 450} 800`),
      "#93683f",
      3,
    ),
    area(0, 452, width, 20, "#f7f3ea"),
  ],
  studio: [
    all("#d9dce0"),
    shape("M0 640Q300 600 600 640V800H0Z", "#eceef0"),
    strokes("M84 800V210M40 800L84 720L128 800M540 800V140", "#33373d", 8),
    shape("M30 90L150 120V230L30 250Z", "#ffffff"),
    shape("M470 130Q540 60 610 130Z", "#33373d"),
  ],
  loft: [
    all("#a9593f"),
    // Every other row of bricks is shifted by half a brick.
    strokes(
      row(15, (line) => `M0 ${line * 42}H600`) +
        row(135, (brick) => `M${(brick % 9) * 76 - (brick % 2) * 38} ${Math.floor(brick / 9) * 42}v42`),
      "#7c3f30",
      4,
    ),
    area(60, 70, 190, 330, "#26303a"),
    row(6, (pane) => area(72 + (pane % 2) * 88, 82 + Math.floor(pane / 2) * 105, 78, 95, "#bfe0f2")),
    area(0, 590, width, 210, "#8f6a48"),
    strokes("M0 630H600M0 690H600M0 760H600", "#6f5034", 4),
  ],
  street: [
    all("#b8d6ec"),
    row(4, (house) => area(house * 150, [180, 90, 230, 120][house]!, 140, 500, "#a5806b")),
    row(48, (window) => area(20 + (window % 12) * 50, 260 + Math.floor(window / 12) * 80, 25, 50, "#f5e8b5")),
    area(0, 590, width, 60, "#c2bdb5"),
    area(0, 650, width, 150, "#4b4e53"),
    row(5, (dash) => area(dash * 140 - 20, 716, 80, 10, "#f3f3f3")),
  ],
  garden: [
    all("#d9effa"),
    disc(95, 110, 46, "#ffe28a"),
    area(446, 250, 34, 260, "#7a5534"),
    disc(400, 240, 80, "#4f9148") + disc(520, 220, 90, "#4f9148") + disc(460, 150, 84, "#4f9148"),
    row(9, (bush) => disc(bush * 80 - 20, 490, 62, "#3b7a3f")),
    area(0, 500, width, 300, "#7fbf5d"),
    row(18, (flower) => disc((flower * 137) % 590, 520 + ((flower * 71) % 190), 9, "#f6c945")),
  ],
  beach: [
    all("#a8dcf5"),
    disc(480, 130, 58, "#ffd95e"),
    area(0, 400, width, 150, "#1f86b5"),
    shape("M0 545Q150 520 300 545T600 545V800H0Z", "#f0d9a4"),
    strokes("M0 545Q150 520 300 545T600 545", "#ffffff", 10),
    shape("M110 400V250L190 390Z", "#fdfdfd"),
    shape("M70 402H205L180 432H95Z", "#a34832"),
  ],
};

/** The backdrop of a product or a model; an exact solid color, or a place. Unknown backgrounds are white. */
export function backdrop(background: string): string {
  const color = toColor(background);
  if (color !== null) return all(color);
  return Object.hasOwn(places, background) ? places[background]!.join("") : all("#ffffff");
}

function toColor(background: string): string | null {
  if (hexBackground.test(background)) return background;
  return Object.hasOwn(plain, background) ? plain[background]! : null;
}

/** Whether dark lines would be invisible on it. */
export function isDark(background: string): boolean {
  const color = toColor(background);
  if (color === null) return false;
  const [red, green, blue] = [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16));
  return red! * 0.3 + green! * 0.59 + blue! * 0.11 < 90;
}
