import { isDark } from "./backdrops.ts";
import { type Paint, type Subject, silhouettes, toPaint } from "./garments.ts";
import type { Scene } from "./scene.ts";

/** Views of a shoe that have their own outline. */
const shoeViews: Readonly<Record<string, { body: string; lines: string }>> = {
  front: {
    body: "M240 300 Q300 270 360 300 L385 470 Q400 600 300 605 Q200 600 215 470 Z",
    lines: "M245 330 L355 330 M240 375 L360 375 M236 420 L364 420 M225 520 Q300 470 375 520",
  },
  back: {
    body: "M245 290 Q300 310 355 290 L375 470 L380 600 L220 600 L225 470 Z",
    lines: "M300 305 L300 540 M222 540 L378 540 M275 300 L275 360 L325 360 L325 300",
  },
  top: {
    body: "M300 180 Q400 190 400 330 Q400 400 375 480 L370 610 Q300 650 230 610 L225 480 Q200 400 200 330 Q200 190 300 180 Z",
    lines:
      "M250 420 Q300 380 350 420 L345 580 Q300 610 255 580 Z M250 330 L350 330 M246 365 L354 365 M254 295 L346 295",
  },
};

/** Lines of the back: a center seam and a neck label instead of the details of the front. */
const backLines: Readonly<Record<Subject, string>> = {
  dress: "M300 180 L300 700 M280 165 H320 V190 H280 Z",
  top: "M300 220 L300 600 M280 210 H320 V235 H280 Z M205 590 H395",
  coat: "M300 180 L300 720 M278 150 H322 V178 H278 Z M185 430 H415",
  trousers: "M300 130 L300 300 M215 190 h55 v65 h-55 Z M330 190 h55 v65 h-55 Z",
  skirt: "M300 240 L300 640 M288 205 h24 v60 h-24 Z",
  shoe: "",
  hat: "M270 420 Q300 440 330 420 L330 455 Q300 470 270 455 Z M180 450 Q300 490 420 450",
  bag: "M150 420 H450 M220 340 Q220 200 300 200 Q380 200 380 340",
  person: "M240 190 Q300 150 360 190",
};

/** Neck and waist openings; the ghost style shows the inside of the garment there. */
const openings: Partial<Record<Subject, string>> = {
  dress: "M268 131 Q300 108 332 131 Q300 176 268 131 Z",
  top: "M263 171 Q300 148 337 171 Q300 216 263 171 Z",
  coat: "M268 117 Q300 100 332 117 L300 152 Z",
  trousers: "M200 121 Q300 100 400 121 Q300 142 200 121 Z",
  skirt: "M225 201 Q300 182 375 201 Q300 222 225 201 Z",
};

/** A product alone, as a beautifier renders it. Angle and style are recognizable at a glance. */
export function productView(scene: Scene): string {
  const { garment, angle_shot: angle, style, background } = scene;
  const paint = toPaint(garment.seed, "cloth");
  const rim = isDark(background) ? "#ffffff" : paint.seam;
  const view = toView(garment.subject, angle);
  const one = drawn(view, paint, rim, garment.subject, scene);
  const ground = `<ellipse cx="300" cy="706" rx="195" ry="18" fill="#000" opacity="0.16"/>`;
  if (angle === "pair") {
    return `${paint.defs}${ground}<g transform="translate(585 130) scale(-0.78 0.78)">${one}</g><g transform="translate(20 246) scale(0.82)">${one}</g>`;
  }
  if (style === "flatlay") {
    // Seen from above: slightly rotated, with a shadow on the surface.
    const shadow = `<path d="${view.body}" fill="#000" opacity="0.2" transform="translate(14 16)"/>`;
    return `${paint.defs}<g transform="rotate(-7 300 400) translate(18 10) scale(0.94)">${shadow}${one}</g>`;
  }
  const turnName = garment.subject === "hat" && angle === "side" ? "hat side" : angle;
  const turn = Object.hasOwn(turns, turnName) ? turns[turnName]! : "translate(18 0) scale(0.94)";
  // Details and top views have no ground.
  if (angle === "detail" || angle === "top") return `${paint.defs}<g transform="${turn}">${one}</g>`;
  const drop = `translate(0 ${drops[garment.subject] ?? 0})`;
  return `${paint.defs}${ground}<g transform="${drop} ${turn}">${one}</g>`;
}

/** Transformations per angle. The base drawing of a shoe is its side, that of a hat its front. */
const turns: Readonly<Record<string, string>> = {
  "three-quarter-left": "translate(60 30) skewY(-5) scale(0.78 0.96)",
  "three-quarter-right": "translate(70 -20) skewY(5) scale(0.78 0.96)",
  "hat side": "translate(130 0) scale(0.6 0.94)",
  detail: "translate(-420 -330) scale(2.4)",
};

/** Offsets that move small products down to the ground. */
const drops: Partial<Record<Subject, number>> = {
  trousers: 40,
  skirt: 60,
  top: 80,
  shoe: 150,
  hat: 150,
  bag: 70,
};

function toView(subject: Subject, angle: string): { body: string; lines: string } {
  const front = silhouettes[subject];
  if (subject === "shoe") return Object.hasOwn(shoeViews, angle) ? shoeViews[angle]! : front;
  if (angle === "back") return { body: front.body, lines: backLines[subject] };
  return front;
}

function drawn(
  { body, lines }: { body: string; lines: string },
  paint: Paint,
  rim: string,
  subject: Subject,
  { angle_shot: angle, style }: Scene,
): string {
  const opening = style === "ghost" && angle !== "back" ? openings[subject] : undefined;
  return [
    `<clipPath id="within"><path d="${body}"/></clipPath>`,
    `<path d="${body}" fill="${paint.fill}"/>`,
    `<g clip-path="url(#within)">${shading(angle, subject)}</g>`,
    `<path d="${lines}" fill="none" stroke="${paint.seam}" stroke-width="4" opacity="0.55"/>`,
    angle === "detail" ? stitches(lines) : "",
    opening === undefined
      ? ""
      : `<path d="${opening}" fill="${paint.seam}"/><path d="M286 138 h28 v14 h-28 z" fill="#fff" opacity="0.9" transform="${labelAt[subject] ?? ""}"/>`,
    `<path d="${body}" fill="none" stroke="${rim}" stroke-width="5" stroke-linejoin="round"/>`,
  ].join("");
}

/** Offsets of the inside label, relative to that of a dress. */
const labelAt: Partial<Record<Subject, string>> = {
  top: "translate(0 38)",
  coat: "translate(0 -14)",
  trousers: "translate(0 -20)",
  skirt: "translate(0 58)",
};

/** Shade on the far side of a turned product; a back view is lit from the other side. */
function shading(angle: string, subject: Subject): string {
  const band = (x: number, w: number, opacity: number) =>
    `<rect x="${x}" y="0" width="${w}" height="800" fill="#000" opacity="${opacity}"/>`;
  if (angle === "three-quarter-left") return band(330, 270, 0.28);
  if (angle === "three-quarter-right") return band(0, 270, 0.28);
  if (angle === "side" && subject === "hat") return band(350, 250, 0.28);
  if (angle === "back") return band(0, 600, 0.18);
  return band(420, 180, 0.1);
}

/** Threads along the seams, for details only. */
const stitches = (lines: string): string =>
  `<path d="${lines}" fill="none" stroke="#fff" stroke-width="1.6" stroke-dasharray="7 4" transform="translate(5 3)" opacity="0.9"/>`;
