import { hash } from "../seed/seed.ts";

/** Possible subjects of a generated picture. */
export const subjects = [
  "dress",
  "top",
  "coat",
  "trousers",
  "skirt",
  "shoe",
  "hat",
  "bag",
  "person",
] as const;
export type Subject = (typeof subjects)[number];

/** Size of every generated picture in pixels. */
export const drawnSize = { width: 600, height: 800 } as const;

/** Paths in a box of 600 x 800: the body, and the lines on top of it. */
export interface Silhouette {
  readonly body: string;
  readonly lines: string;
}

export const silhouettes: Readonly<Record<Subject, Silhouette>> = {
  dress: {
    body: "M235 130 L270 130 Q300 175 330 130 L365 130 L385 300 L350 380 L450 690 Q300 730 150 690 L250 380 L215 300 Z",
    lines: "M250 380 L350 380 M265 390 L220 700 M335 390 L380 700",
  },
  top: {
    body: "M220 190 L265 170 Q300 215 335 170 L380 190 L500 300 L445 375 L395 325 L395 620 L205 620 L205 325 L155 375 L100 300 Z",
    lines: "M205 590 L395 590 M300 205 L300 590",
  },
  coat: {
    body: "M225 130 L270 115 L300 150 L330 115 L375 130 L470 260 L480 560 L425 565 L415 330 L425 720 L175 720 L185 330 L175 565 L120 560 L130 260 Z",
    lines: "M300 150 L300 720 M300 150 L255 330 L300 400 L345 330 Z M200 520 L265 520 M335 520 L400 520",
  },
  trousers: {
    body: "M200 120 L400 120 L425 700 L325 700 L300 300 L275 700 L175 700 Z",
    lines: "M200 160 L400 160 M300 160 L300 300 M225 165 L245 240 M375 165 L355 240",
  },
  skirt: {
    body: "M225 200 L375 200 L470 620 Q300 670 130 620 Z",
    lines: "M225 235 L375 235 M260 240 L215 640 M300 240 L300 650 M340 240 L385 640",
  },
  shoe: {
    body: "M110 360 Q170 330 220 350 Q300 440 400 455 Q500 470 505 530 L505 560 L105 560 Q95 450 110 360 Z",
    lines: "M105 530 L505 530 M255 400 L290 375 M285 425 L320 400 M315 442 L350 420",
  },
  hat: {
    body: "M180 450 Q190 250 300 250 Q410 250 420 450 Q520 460 540 500 Q300 570 60 500 Q80 460 180 450 Z",
    lines: "M180 425 Q300 460 420 425 M180 450 Q300 490 420 450",
  },
  bag: {
    body: "M150 340 L450 340 L490 660 L110 660 Z",
    lines:
      "M220 340 Q220 200 300 200 Q380 200 380 340 M150 420 L450 420 M285 405 L315 405 L315 440 L285 440 Z",
  },
  person: {
    body: "M300 120 Q370 120 370 205 Q370 275 325 300 L330 330 Q450 350 470 460 L480 800 L120 800 L130 460 Q150 350 270 330 L275 300 Q230 275 230 205 Q230 120 300 120 Z",
    lines: "M240 190 Q300 150 360 190 M270 330 Q300 365 330 330",
  },
};

/** The fabric of a product, the same in its photo and in every generated image. */
export interface Paint {
  /** Definitions that `fill` needs. */
  readonly defs: string;
  /** Plain, striped or dotted. */
  readonly fill: string;
  /** A dark color of the same hue, for lines. */
  readonly seam: string;
}

/** The 32 bits that determine a look. */
export const toLook = (seed: string): number => hash(seed) >>> 0;

/** The paint of a seed; `id` identifies its definitions within one picture. */
export function toPaint(seed: string, id: string): Paint {
  const look = toLook(seed);
  const hue = look % 360;
  const cloth = `hsl(${hue}, ${30 + ((look >>> 12) % 40)}%, ${32 + ((look >>> 24) % 30)}%)`;
  const seam = `hsl(${hue}, 30%, 18%)`;
  const kind = (look >>> 15) % 3;
  if (kind === 0) return { defs: "", fill: cloth, seam };
  const step = 28 + ((look >>> 5) % 24);
  const mark =
    kind === 1
      ? `<rect width="${step}" height="${step / 3}" fill="#fff" opacity="0.35"/>`
      : `<circle cx="${step / 2}" cy="${step / 2}" r="${step / 6}" fill="#fff" opacity="0.5"/>`;
  const defs = [
    `<defs><pattern id="${id}" width="${step}" height="${step}" patternUnits="userSpaceOnUse">`,
    `<rect width="${step}" height="${step}" fill="${cloth}"/>${mark}</pattern></defs>`,
  ].join("");
  return { defs, fill: `url(#${id})`, seam };
}

/** The subject of a picture; an unknown one is replaced by a choice of the seed. */
export function toSubject(subject: string, seed: string): Subject {
  if ((subjects as readonly string[]).includes(subject)) return subject as Subject;
  return subjects[toLook(seed) % (subjects.length - 1)]!;
}

/** A picture as SVG. The seed determines the colors, and also the subject if `subject` is unknown. */
export function photoDrawing(subject: string, seed: string): string {
  const look = toLook(seed);
  const shape = silhouettes[toSubject(subject, seed)];
  const paperHue = ((look % 360) + 40 + ((look >>> 9) % 280)) % 360;
  const paper = `hsl(${paperHue}, 24%, ${86 + ((look >>> 18) % 8)}%)`;
  const floor = `hsl(${paperHue}, 20%, ${76 + ((look >>> 21) % 6)}%)`;
  const { defs, fill, seam } = toPaint(seed, "cloth");
  const { width, height } = drawnSize;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`,
    defs,
    `<rect width="${width}" height="${height}" fill="${paper}"/>`,
    `<rect y="640" width="${width}" height="160" fill="${floor}"/>`,
    `<ellipse cx="300" cy="715" rx="190" ry="22" fill="${seam}" opacity="0.18"/>`,
    `<path d="${shape.body}" fill="${fill}"/>`,
    `<path d="${shape.lines}" fill="none" stroke="${seam}" stroke-width="4" opacity="0.55"/>`,
    `<path d="${shape.body}" fill="none" stroke="${seam}" stroke-width="5" stroke-linejoin="round"/>`,
    "</svg>",
  ].join("");
}
