import { hexBackground } from "../../contract/value-sets.ts";
import { drawnSize } from "./garments.ts";

const { width, height } = drawnSize;
const all = (fill: string) => `<rect width="${width}" height="${height}" fill="${fill}"/>`;
const area = (x: number, y: number, w: number, h: number, fill: string) =>
  `<rect x="${x}" y="${y}" width="${w}" height="${h}" fill="${fill}"/>`;
const shape = (path: string, fill: string) => `<path d="${path}" fill="${fill}"/>`;
const strokes = (path: string, color: string, thickness: number) =>
  `<path d="${path}" fill="none" stroke="${color}" stroke-width="${thickness}"/>`;
const disc = (x: number, y: number, radius: number, fill: string) =>
  `<circle cx="${x}" cy="${y}" r="${radius}" fill="${fill}"/>`;
const gradient = (id: string, from: string, to: string) =>
  `<defs><linearGradient id="${id}" x2="0" y2="1"><stop stop-color="${from}"/><stop offset="1" stop-color="${to}"/></linearGradient></defs>`;
const each = <T>(items: readonly T[], draw: (item: T, index: number) => string) => items.map(draw).join("");
const count = (length: number) => Array.from({ length }, (_, index) => index);

const plain: Readonly<Record<string, string>> = {
  white: "#ffffff",
  "light-grey": "#d9d9d9",
  beige: "#eadfcc",
  black: "#000000",
};

/** Rows of bricks; every other row is shifted by half a brick. */
const bricks = count(14)
  .flatMap((row) => count(9).map((column) => [column * 76 - (row % 2) * 38, row * 42] as const))
  .map(([x, y]) => `M${x + 2} ${y + 2}h72v38h-72z`)
  .join("");

/** Scenes and floors, simple enough to be recognized at a glance. */
const places: Readonly<Record<string, () => string>> = {
  floor: () =>
    [
      all("#e9e2d6"),
      area(0, 470, width, 330, "#b98d5e"),
      strokes(
        count(11)
          .map((plank) => `M${plank * 60} 470L${(plank - 5) * 150 + 300} 800`)
          .join(""),
        "#93683f",
        3,
      ),
      strokes("M0 520H600M0 590H600M0 690H600", "#93683f", 2),
      area(0, 452, width, 20, "#f7f3ea"),
    ].join(""),
  studio: () =>
    [
      gradient("sweep", "#c9ccd1", "#f4f5f6"),
      all("url(#sweep)"),
      shape("M0 640Q300 600 600 640V800H0Z", "#e3e5e8"),
      strokes("M84 800L84 210M40 800L84 720L128 800", "#33373d", 8),
      shape("M30 90L150 120L150 230L30 250Z", "#ffffff"),
      strokes("M30 90L150 120L150 230L30 250Z", "#33373d", 7),
      strokes("M540 800V140M600 800L540 730", "#33373d", 8),
      shape("M470 130Q540 60 610 130Z", "#33373d"),
    ].join(""),
  loft: () =>
    [
      all("#7c3f30"),
      shape(bricks, "#a9593f"),
      area(60, 70, 190, 330, "#26303a"),
      each(count(6), (pane) =>
        area(72 + (pane % 2) * 88, 82 + Math.floor(pane / 2) * 105, 78, 95, "#bfe0f2"),
      ),
      strokes("M0 40H600M470 0V40", "#3c3f44", 16),
      area(0, 590, width, 210, "#8f6a48"),
      strokes("M0 630H600M0 690H600M0 760H600M120 590V630M380 630V690M220 690V760", "#6f5034", 4),
    ].join(""),
  street: () =>
    [
      gradient("sky", "#9cc6e8", "#e6eff5"),
      all("url(#sky)"),
      each(
        [
          [0, 180, 150, "#8d6f64"],
          [150, 90, 130, "#b59f8a"],
          [280, 230, 140, "#6f7f8c"],
          [420, 120, 180, "#a5806b"],
        ] as const,
        ([x, y, w, fill]) =>
          area(x, y, w, 620 - y, fill) +
          each(count(12), (window) =>
            area(
              x + 18 + (window % 3) * (w / 3 - 4),
              y + 24 + Math.floor(window / 3) * 88,
              w / 6,
              50,
              "#f5e8b5",
            ),
          ),
      ),
      area(0, 590, width, 60, "#c2bdb5"),
      area(0, 650, width, 150, "#4b4e53"),
      each(count(5), (dash) => area(dash * 140 - 20, 716, 80, 10, "#f3f3f3")),
      strokes("M548 620V250Q548 215 505 215", "#22262b", 10),
      disc(500, 228, 18, "#ffe9a3"),
    ].join(""),
  garden: () =>
    [
      gradient("sky", "#bfe3f7", "#f2fafd"),
      all("url(#sky)"),
      disc(95, 110, 46, "#ffe28a"),
      area(446, 250, 34, 260, "#7a5534"),
      each(
        [
          [400, 240, 80],
          [520, 220, 90],
          [460, 150, 84],
        ] as const,
        ([x, y, radius]) => disc(x, y, radius, "#4f9148"),
      ),
      each(count(9), (bush) => disc(bush * 80 - 20, 490, 62, "#3b7a3f")),
      area(0, 500, width, 300, "#7fbf5d"),
      each(count(18), (flower) => {
        const [x, y] = [(flower * 137) % 590, 520 + ((flower * 71) % 190)];
        const petals = ["#e8536f", "#f6c945", "#ffffff"][flower % 3]!;
        return disc(x, y, 9, petals) + disc(x, y, 3.5, "#8a5a1f");
      }),
    ].join(""),
  beach: () =>
    [
      gradient("sky", "#6fc3ee", "#e2f5fc"),
      all("url(#sky)"),
      disc(480, 130, 58, "#ffd95e"),
      area(0, 400, width, 150, "#1f86b5"),
      strokes(
        "M0 430Q75 415 150 430T300 430T450 430T600 430M0 480Q75 465 150 480T300 480T450 480T600 480",
        "#8fd0e8",
        6,
      ),
      shape("M0 545Q150 520 300 545T600 545V800H0Z", "#f0d9a4"),
      strokes("M0 545Q150 520 300 545T600 545", "#ffffff", 10),
      shape("M110 400L110 250L190 390Z", "#fdfdfd"),
      shape("M70 402H205L180 432H95Z", "#a34832"),
    ].join(""),
};

/** The backdrop of a product or a model; an exact solid color, or a place. Unknown backgrounds are white. */
export function backdrop(background: string): string {
  const color = toColor(background);
  if (color !== null) return all(color);
  return Object.hasOwn(places, background) ? places[background]!() : all("#ffffff");
}

const toColor = (background: string): string | null => {
  if (hexBackground.test(background)) return background;
  return Object.hasOwn(plain, background) ? plain[background]! : null;
};

/** Whether dark lines would be invisible on it. */
export function isDark(background: string): boolean {
  const color = toColor(background);
  if (color === null) return false;
  const [red, green, blue] = [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16));
  return red! * 0.3 + green! * 0.59 + blue! * 0.11 < 90;
}
