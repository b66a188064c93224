import { backdropOf } from "./backdrops.ts";
import { figure } from "./figure.ts";
import { lettersAt, widthOf, writable } from "./lettering.ts";
import { lookOf, paintOf } from "./paint.ts";
import { productView } from "./product-view.ts";
import type { Garment, Scene } from "./scene.ts";
import { silhouettes } from "./silhouettes.ts";
import { drawnSize, type Subject } from "./subjects.ts";
import type { Side } from "./worn.ts";

/** A generated image as SVG: background, product (alone or on the model), caption. */
export function sceneDrawing(scene: Scene): string {
  const { width, height } = drawnSize;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`,
    backdropOf(scene.background),
    scene.person === null ? productView(scene) : tryonView(scene),
    scene.stylings.map(card).join(""),
    caption(scene),
    "</svg>",
  ].join("");
}

function tryonView(scene: Scene): string {
  const { angle_shot: angle } = scene;
  const side: Side = angle.endsWith("-back") ? "back" : angle.endsWith("-side") ? "profile" : "front";
  const shadow = `<ellipse cx="300" cy="716" rx="120" ry="13" fill="#000" opacity="0.22"/>`;
  return `<g transform="${frameOf(scene)}">${shadow}${figure(scene, side)}</g>`;
}

/** Center of a close-up, by garment. */
const middles: Partial<Record<Subject, readonly [number, number]>> = {
  hat: [300, 110],
  shoe: [300, 660],
  trousers: [300, 500],
  skirt: [300, 470],
  bag: [380, 440],
};

/** The frame of an angle. Each custom angle has a different one. */
function frameOf({ angle_shot: angle, garment }: Scene): string {
  if (angle.startsWith("half")) return "translate(-195 -40) scale(1.65)";
  if (angle === "close-up") {
    const [x, y] = middles[garment.subject] ?? [300, 215];
    return `translate(300 380) scale(2.3) translate(${-x} ${-y})`;
  }
  if (angle.startsWith("full")) return "";
  const look = lookOf(angle);
  const tilt = (look % 17) - 8;
  const zoom = 0.85 + ((look >>> 8) % 40) / 100;
  return `translate(300 360) rotate(${tilt}) scale(${zoom}) translate(-300 -360)`;
}

/** A styling product on a card, because another garment can hide it on the figure. */
function card(styling: Garment, index: number): string {
  const { defs, fill, seam } = paintOf(styling.seed, `card${index}`);
  const { body, lines } = silhouettes[styling.subject];
  return [
    defs,
    `<g transform="translate(530 ${18 + index * 66})"><rect width="52" height="60" rx="7" fill="#fff" opacity="0.88"/>`,
    `<g transform="translate(3.5 0) scale(0.075)"><path d="${body}" fill="${fill}" stroke="${seam}" stroke-width="14"/>`,
    `<path d="${lines}" fill="none" stroke="${seam}" stroke-width="10" opacity="0.6"/></g></g>`,
  ].join("");
}

/** The caption at the lower edge: the reference of the product, then model, angle, style and background. */
function caption(scene: Scene): string {
  const { reference, person, angle_shot, style, look_at_camera, background } = scene;
  const details = [
    ...(person === null ? [] : [person.name ?? person.id]),
    angle_shot,
    ...(style === null ? [] : [style]),
    background,
    ...(look_at_camera ? [] : ["looks away"]),
  ];
  const first = writable(reference, 30);
  const second = writable(details.join(" / "), 45);
  const plate = Math.max(widthOf(first) * 3, widthOf(second) * 2) + 28;
  return [
    `<rect x="14" y="730" width="${plate}" height="60" rx="8" fill="#fff" opacity="0.86"/>`,
    `<g fill="#1d2026" shape-rendering="crispEdges"><path d="${lettersAt(first, 28, 738, 3)}"/>`,
    `<path d="${lettersAt(second, 28, 768, 2)}"/></g>`,
  ].join("");
}
