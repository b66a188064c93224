import { type Paint, type Subject, toLook, toPaint } from "./garments.ts";
import { toView } from "./product-view.ts";
import type { Garment } from "./scene.ts";

/** Layers from bottom to top: a coat over a top, a top over a skirt. */
const order: readonly Subject[] = ["shoe", "trousers", "skirt", "dress", "top", "coat", "bag", "hat"];

/** The outfit, innermost first: the garment, its stylings, and plain clothes for the rest of the body. */
export function toOutfit(garment: Garment, stylings: readonly Garment[], plainSeed: string): Garment[] {
  const worn = [...stylings, garment];
  const has = (...subjects: Subject[]) => worn.some(({ subject }) => subjects.includes(subject));
  const plain = (subject: Subject): Garment => ({ subject, seed: `${plainPrefix}${plainSeed} ${subject}` });
  return [
    ...(has("shoe") ? [] : [plain("shoe")]),
    ...(has("trousers", "skirt", "dress") ? [] : [plain("trousers")]),
    ...(has("top", "dress") ? [] : [plain("top")]),
    // On the same layer the garment comes last, so that it is visible.
    ...worn.toSorted((a, b) => order.indexOf(a.subject) - order.indexOf(b.subject)),
  ];
}

const plainPrefix = "plain ";
const plainCloths = ["#4a4f58", "#8b8f97", "#b9b2a5", "#5f6b61", "#6d6475", "#7a6a5c"];

/** Plain clothes are pale and without a pattern, so that they do not look like a product. */
function paintWorn({ seed }: Garment, id: string): Paint {
  if (!seed.startsWith(plainPrefix)) return toPaint(seed, id);
  return { defs: "", fill: plainCloths[toLook(seed) % plainCloths.length]!, seam: "#30333a" };
}

/** Where the outline of a garment is on the figure; shoes are two. */
const fits: Partial<Record<Subject, readonly string[]>> = {
  dress: ["translate(-15 101) scale(1.05 0.685)"],
  top: ["translate(75 95) scale(0.75 0.56)"],
  coat: ["translate(54 112) scale(0.82 0.65)"],
  trousers: ["translate(114 334) scale(0.62 0.486)"],
  skirt: ["translate(66 303) scale(0.78 0.425)"],
  shoe: ["translate(308 623) scale(0.17)", "translate(292 623) scale(-0.17 0.17)"],
  hat: ["translate(168 -53) scale(0.44 0.28)"],
};

/** A garment on the figure; `id` identifies its definitions, and `hand` is where a bag hangs. */
export function wornGarment(
  garment: Garment,
  id: string,
  [x, y]: readonly [number, number],
  isBack: boolean,
): string {
  const { defs, fill, seam } = paintWorn(garment, id);
  const { body, lines } = toView(garment.subject, isBack);
  const bag = [`translate(${x - 84} ${y - 58}) scale(0.28)`];
  const places = garment.subject === "bag" ? bag : (fits[garment.subject] ?? []);
  const line = `fill="none" stroke="${seam}" vector-effect="non-scaling-stroke" stroke-width="3"`;
  const drawing = `<path d="${body}" fill="${fill}"/><path d="${lines}" ${line} opacity="0.6"/><path d="${body}" ${line}/>`;
  return defs + places.map((place) => `<g transform="${place}">${drawing}</g>`).join("");
}
