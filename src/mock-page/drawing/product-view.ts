import { isDark } from "./backdrops.ts";
import { type Silhouette, type Subject, silhouettes, toPaint } from "./garments.ts";
import type { Scene } from "./scene.ts";

/** Transformations per angle. The base drawing of a shoe is its side, that of a hat its front. */
const turns: Readonly<Record<string, string>> = {
  "three-quarter-left": "translate(60 30) skewY(-5) scale(0.78 0.96)",
  "three-quarter-right": "translate(70 -20) skewY(5) scale(0.78 0.96)",
  detail: "translate(-420 -330) scale(2.4)",
  "hat side": "translate(130 0) scale(0.6 0.94)",
  "shoe front": "translate(165 0) scale(0.45 0.94)",
  "shoe back": "translate(390 0) scale(-0.3 0.94)",
  "shoe top": "translate(420 100) rotate(90) scale(0.94 0.5)",
};

/** Shades on the far side of a turned product; a back view is lit from the other side. */
const shades: Readonly<Record<string, readonly [x: number, width: number, opacity: number]>> = {
  "three-quarter-left": [330, 270, 0.28],
  "three-quarter-right": [0, 270, 0.28],
  back: [0, 600, 0.18],
};

/** The outline of a garment, and the lines of the visible side. */
export function toView(garment: Subject, isBack: boolean): Pick<Silhouette, "body" | "lines"> {
  const { body, lines, back } = silhouettes[garment];
  return { body, lines: isBack ? back : lines };
}

/** How far a short product is above the ground. */
const drops: Partial<Record<Subject, number>> = {
  top: 80,
  trousers: 40,
  skirt: 60,
  shoe: 150,
  hat: 150,
  bag: 70,
  knit: 70,
};

/** A product alone, as a beautifier renders it. Angle and style are recognizable at a glance. */
export function productView({ garment, angle_shot: angle, style, background }: Scene): string {
  const { defs, fill, seam } = toPaint(garment.seed, "cloth");
  const { body, lines } = toView(garment.subject, angle === "back");
  const [x, width, opacity] = (Object.hasOwn(shades, angle) && shades[angle]) || [420, 180, 0.1];
  // A ghost has no outline: the garment stands by itself, with the light of its inside.
  const rim = style === "ghost" ? "none" : isDark(background) ? "#ffffff" : seam;
  const product = [
    `<clipPath id="within"><path d="${body}"/></clipPath><path d="${body}" fill="${fill}"/>`,
    `<g clip-path="url(#within)"><rect x="${x}" width="${width}" height="800" opacity="${opacity}"/>`,
    `<path d="${lines}" fill="none" stroke="${seam}" stroke-width="4" opacity="0.55"/></g>`,
    `<path d="${body}" fill="none" stroke="${rim}" stroke-width="5" stroke-linejoin="round"/>`,
  ].join("");
  const ground = '<ellipse cx="300" cy="706" rx="195" ry="18" opacity="0.16"/>';
  if (angle === "pair") {
    const mirrored = `<g transform="translate(585 130) scale(-0.78 0.78)">${product}</g>`;
    return `${defs}${ground}${mirrored}<g transform="translate(20 246) scale(0.82)">${product}</g>`;
  }
  if (style === "flatlay") {
    // Seen from above: slightly rotated, with a shadow on the surface.
    const shadow = `<path d="${body}" opacity="0.2" transform="translate(14 16)"/>`;
    return `${defs}<g transform="rotate(-7 300 400) translate(18 10) scale(0.94)">${shadow}${product}</g>`;
  }
  const known = [`${garment.subject} ${angle}`, angle].find((name) => Object.hasOwn(turns, name));
  const turn = known === undefined ? "translate(18 0) scale(0.94)" : turns[known];
  // Details and top views have no ground.
  if (angle === "detail" || angle === "top") return `${defs}<g transform="${turn}">${product}</g>`;
  const drop = drops[garment.subject] ?? 0;
  return `${defs}${ground}<g transform="translate(0 ${drop}) ${turn}">${product}</g>`;
}
