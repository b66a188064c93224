import { backdrop } from "./backdrops.ts";
import { figure, type Side } from "./figure.ts";
import { drawnSize, type Subject, silhouettes, toLook, toPaint } from "./garments.ts";
import { productView } from "./product-view.ts";
import type { Garment, Scene } from "./scene.ts";

/** A generated image as SVG: background, product (alone or on the model), caption. */
export function sceneDrawing(scene: Scene): string {
  const { width, height } = drawnSize;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`,
    backdrop(scene.background),
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
  return `<g transform="${toFrame(scene)}">${shadow}${figure(scene, side)}</g>`;
}

const middles: Partial<Record<Subject, readonly [number, number]>> = {
  hat: [300, 110],
  shoe: [300, 660],
  trousers: [300, 500],
  skirt: [300, 470],
  bag: [380, 440],
};

/** The frame of an angle. Each custom angle has a different one. */
function toFrame({ angle_shot: angle, garment }: Scene): string {
  if (angle.startsWith("half")) return "translate(-195 -40) scale(1.65)";
  if (angle === "close-up") {
    const [x, y] = middles[garment.subject] ?? [300, 215];
    return `translate(300 380) scale(2.3) translate(${-x} ${-y})`;
  }
  if (angle.startsWith("full")) return "";
  const look = toLook(angle);
  const tilt = (look % 17) - 8;
  const zoom = 0.85 + ((look >>> 8) % 40) / 100;
  return `translate(300 360) rotate(${tilt}) scale(${zoom}) translate(-300 -360)`;
}

/** A styling product on a card, because another garment can hide it on the figure. */
function card(styling: Garment, index: number): string {
  const { defs, fill, seam } = toPaint(styling.seed, `card${index}`);
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
  const plate = Math.max(textWidth(first) * 3, textWidth(second) * 2) + 28;
  return [
    `<rect x="14" y="730" width="${plate}" height="60" rx="8" fill="#fff" opacity="0.86"/>`,
    `<g fill="#1d2026" shape-rendering="crispEdges"><path d="${lettersAt(first, 28, 738, 3)}"/>`,
    `<path d="${lettersAt(second, 28, 768, 2)}"/></g>`,
  ].join("");
}

/**
 * A font of 5 x 7 dots for the space to the tilde, because a bare machine has no fonts. Each letter has five
 * columns with the lowest bit on top; the eighth bit is below the baseline.
 */
const letters = [
  "0000000000 00005f0000 0007000700 147f147f14 242a7f2a12 2313086462 3649562050 0008070300 001c224100 0041221c00",
  "2a1c7f1c2a 08083e0808 0080703000 0808080808 0000606000 2010080402 3e5149453e 00427f4000 7249494946 2141494d33",
  "1814127f10 2745454539 3c4a494931 4121110907 3649494936 464949291e 0000140000 0040340000 0008142241 1414141414",
  "0041221408 0201590906 3e415d594e 7c1211127c 7f49494936 3e41414122 7f4141413e 7f49494941 7f09090901 3e41415173",
  "7f0808087f 00417f4100 2040413f01 7f08142241 7f40404040 7f021c027f 7f0408107f 3e4141413e 7f09090906 3e4151215e",
  "7f09192946 2649494932 03017f0103 3f4040403f 1f2040201f 3f4038403f 6314081463 0304780403 6159494d43 007f414141",
  "0204081020 004141417f 0402010204 4040404040 0003070800 2054547840 7f28444438 3844444428 384444287f 3854545418",
  "00087e0902 18a4a49c78 7f08040478 00447d4000 2040403d00 7f10284400 00417f4000 7c04780478 7c08040478 3844444438",
  "fc18242418 18242418fc 7c08040408 4854545424 04043f4424 3c4040207c 1c2040201c 3c4030403c 4428102844 4c9090907c",
  "4464544c44 0008364100 0000770000 0041360800 0201020402",
]
  .join(" ")
  .split(" ");
/** A box for all other characters. */
const box = "7f4141417f";

/** Columns per letter, including the gap. */
const advance = 6;

export const textWidth = (text: string): number => Math.max(0, text.length * advance - 1);

/** A text without accents, shortened to `most` letters. */
export function writable(text: string, most: number): string {
  const plain = [...text.normalize("NFD").replaceAll(/\p{M}/gu, "")];
  return plain.length <= most ? plain.join("") : `${plain.slice(0, most - 3).join("")}...`;
}

/** A line of text as a path; `x` and `y` are the top left corner, `dot` is the size of a dot. */
export function lettersAt(text: string, x: number, y: number, dot: number): string {
  let path = "";
  for (const [index, letter] of [...text].entries()) {
    const columns = letters[letter.charCodeAt(0) - 0x20] ?? box;
    for (let column = 0; column < 5; column++) {
      const bits = Number.parseInt(columns.slice(column * 2, column * 2 + 2), 16);
      const left = x + (index * advance + column) * dot;
      // Merges vertically adjacent dots.
      for (let row = 0; row < 8; row++) {
        if (((bits >> row) & 1) === 0) continue;
        const first = row;
        while (((bits >> (row + 1)) & 1) === 1) row++;
        path += `M${left} ${y + first * dot}h${dot}v${(row - first + 1) * dot}h-${dot}z`;
      }
    }
  }
  return path;
}
