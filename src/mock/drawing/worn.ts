import { type Paint, type Subject, silhouettes, toLook, toPaint } from "./garments.ts";
import type { Garment } from "./scene.ts";

/** Positions of the elbows and hands of a figure. */
export interface Pose {
  readonly left: readonly [elbow: readonly [number, number], hand: readonly [number, number]];
  readonly right: readonly [elbow: readonly [number, number], hand: readonly [number, number]];
}

/** The visible side of a figure. */
export type Side = "front" | "back" | "profile";

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
  const paint = toPaint(seed, id);
  if (!seed.startsWith(plainPrefix)) return paint;
  const cloth = plainCloths[toLook(seed) % plainCloths.length]!;
  return { defs: "", fill: cloth, cloth, seam: "#30333a" };
}

/** A garment on the figure; `id` identifies its definitions within the picture. */
export function wornGarment(garment: Garment, id: string, pose: Pose, side: Side): string {
  const paint = paintWorn(garment, id);
  const draw = shapes[garment.subject];
  return draw === undefined ? "" : paint.defs + draw(paint, pose, side);
}

const outlined = (path: string, { fill, seam }: Paint) =>
  `<path d="${path}" fill="${fill}" stroke="${seam}" stroke-width="3" stroke-linejoin="round"/>`;
/** A tube along a line, such as a sleeve or a trouser leg. */
const tube = (path: string, { fill, seam }: Paint, thickness: number) =>
  [
    `<path d="${path}" fill="none" stroke="${seam}" stroke-width="${thickness + 5}" stroke-linejoin="round"/>`,
    `<path d="${path}" fill="none" stroke="${fill}" stroke-width="${thickness}" stroke-linejoin="round"/>`,
  ].join("");
const seams = (path: string, { seam }: Paint) =>
  `<path d="${path}" fill="none" stroke="${seam}" stroke-width="3" opacity="0.7"/>`;

export const shoulders = { left: [236, 222], right: [364, 222] } as const;
/** A point between `from` and `to`. */
const along = (from: readonly number[], to: readonly number[], part: number) =>
  `${from[0]! + (to[0]! - from[0]!) * part} ${from[1]! + (to[1]! - from[1]!) * part}`;

function sleeves(paint: Paint, pose: Pose, length: "short" | "long", thickness: number): string {
  return (["left", "right"] as const)
    .map((arm) => {
      const [elbow, hand] = pose[arm];
      const shoulder = shoulders[arm];
      const path =
        length === "short"
          ? `M${along(shoulder, elbow, 0)}L${along(shoulder, elbow, 0.55)}`
          : `M${along(shoulder, elbow, 0)}L${elbow.join(" ")}L${along(elbow, hand, 0.9)}`;
      const [x, y] = shoulder;
      const joint = `M${x - thickness / 2} ${y}a${thickness / 2} ${thickness / 2} 0 1 1 ${thickness} 0z`;
      return outlined(joint, paint) + tube(path, paint, thickness);
    })
    .join("");
}

const shapes: Partial<Record<Subject, (paint: Paint, pose: Pose, side: Side) => string>> = {
  top: (paint, pose, side) =>
    sleeves(paint, pose, "short", 50) +
    outlined(
      side === "back"
        ? "M228 204L270 188Q300 198 330 188L372 204L362 300L366 440Q300 452 234 440L238 300Z"
        : "M228 204L268 188Q300 236 332 188L372 204L362 300L366 440Q300 452 234 440L238 300Z",
      paint,
    ) +
    seams(side === "back" ? "M300 196V444" : "M236 425Q300 437 364 425", paint),
  dress: (paint, pose, side) =>
    sleeves(paint, pose, "short", 44) +
    outlined(
      side === "back"
        ? "M232 204L270 190Q300 204 330 190L368 204L350 350L410 590Q300 622 190 590L250 350Z"
        : "M232 204L266 190Q300 248 334 190L368 204L350 350L410 590Q300 622 190 590L250 350Z",
      paint,
    ) +
    seams(
      side === "back" ? "M300 202V604M250 350H350" : "M250 350H350M270 360L238 590M330 360L362 590",
      paint,
    ),
  coat: (paint, pose, side) =>
    sleeves(paint, pose, "long", 54) +
    (side === "back"
      ? outlined("M222 206L268 184H332L378 206L370 360L392 580Q300 600 208 580L230 360Z", paint) +
        seams("M300 190V590M228 360H372", paint)
      : // Open in front, to show the layers below.
        outlined("M222 206L266 184L284 300L276 590L208 580L230 360Z", paint) +
        outlined("M378 206L334 184L316 300L324 590L392 580L370 360Z", paint) +
        seams("M266 184L252 262L282 300M334 184L348 262L318 300M225 450H262M338 450H375", paint)),
  trousers: (paint) =>
    outlined("M240 392H360L366 674H307L300 478L293 674H234Z", paint) +
    seams("M240 408H360M300 408V478M258 410L248 450M342 410L352 450", paint),
  skirt: (paint) =>
    outlined("M244 388H356L400 560Q300 590 200 560Z", paint) +
    seams("M242 404H358M275 406L245 566M325 406L355 566", paint),
  shoe: (paint, _pose, side) =>
    side === "profile"
      ? outlined("M236 676H300Q352 690 356 716H236Z", paint)
      : outlined("M238 678H286L290 718H216Q214 696 238 678Z", paint) +
        outlined("M362 678H314L310 718H384Q386 696 362 678Z", paint) +
        seams(side === "back" ? "M262 680V716M338 680V716" : "M222 704H288M312 704H378", paint),
  hat: (paint) =>
    outlined("M252 70Q250 16 300 14Q350 16 348 70Q396 74 404 86Q300 108 196 86Q204 74 252 70Z", paint) +
    seams("M252 64Q300 80 348 64", paint),
  bag: (paint, pose) => {
    const [x, y] = pose.right[1];
    const { body, lines } = silhouettes.bag;
    return `<g transform="translate(${x - 84} ${y - 58}) scale(0.28)">${outlined(body, paint)}<path d="${lines}" fill="none" stroke="${paint.seam}" stroke-width="16"/></g>`;
  },
};
