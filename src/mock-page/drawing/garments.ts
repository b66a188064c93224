import { hash } from "./hash.ts";
import { colorOfWords, patternOfWords, productGarments } from "./product-words.ts";

export const subjects = [...productGarments, "person"] as const;
export type Subject = (typeof subjects)[number];

/** Size of every generated picture in pixels. */
export const drawnSize = { width: 600, height: 800 } as const;

/** Paths in a box of 600 x 800: the body, and the lines on top of it, of the front and of the back. */
export interface Silhouette {
  readonly body: string;
  readonly lines: string;
  readonly back: string;
}

export const silhouettes: Readonly<Record<Subject, Silhouette>> = {
  dress: {
    body: "M235 130 L270 130 Q300 175 330 130 L365 130 L385 300 L350 380 L450 690 Q300 730 150 690 L250 380 L215 300 Z",
    lines: "M250 380 L350 380 M265 390 L220 700 M335 390 L380 700",
    back: "M250 380 L350 380 M300 152 L300 370 M292 152 L308 152 M265 390 L235 705 M335 390 L365 705 M300 390 L300 712",
  },
  top: {
    body: "M220 190 L265 170 Q300 215 335 170 L380 190 L500 300 L445 375 L395 325 L395 620 L205 620 L205 325 L155 375 L100 300 Z",
    lines: "M205 590 L395 590 M300 205 L300 590",
    back: "M205 590 L395 590 M265 170 Q300 190 335 170 M222 240 Q300 262 378 240 M290 200 L310 200 L310 216 L290 216 Z",
  },
  coat: {
    body: "M225 130 L270 115 L300 150 L330 115 L375 130 L470 260 L480 560 L425 565 L415 330 L425 720 L175 720 L185 330 L175 565 L120 560 L130 260 Z",
    lines: "M300 150 L300 720 M300 150 L255 330 L300 400 L345 330 Z M200 520 L265 520 M335 520 L400 520",
    back: "M270 115 Q300 132 330 115 M215 250 Q300 274 385 250 M300 262 L300 560 M300 560 L286 720 M300 560 L314 720 M196 430 L404 430",
  },
  trousers: {
    body: "M200 120 L400 120 L425 700 L325 700 L300 300 L275 700 L175 700 Z",
    lines: "M200 160 L400 160 M300 160 L300 300 M225 165 L245 240 M375 165 L355 240",
    back: "M200 160 L400 160 M300 160 L300 300 M225 190 L280 190 L280 246 L252 262 L225 246 Z M320 190 L375 190 L375 246 L348 262 L320 246 Z",
  },
  skirt: {
    body: "M225 200 L375 200 L470 620 Q300 670 130 620 Z",
    lines: "M225 235 L375 235 M260 240 L215 640 M300 240 L300 650 M340 240 L385 640",
    back: "M225 235 L375 235 M300 205 L300 420 M293 205 L307 205 M300 560 L300 652 M262 250 L255 300 M338 250 L345 300",
  },
  shoe: {
    body: "M110 360 Q170 330 220 350 Q300 440 400 455 Q500 470 505 530 L505 560 L105 560 Q95 450 110 360 Z",
    lines: "M105 530 L505 530 M255 400 L290 375 M285 425 L320 400 M315 442 L350 420",
    back: "M105 530 L505 530 M150 352 Q170 440 150 530 M196 346 Q214 440 200 530 M128 372 L192 360",
  },
  hat: {
    body: "M180 450 Q190 250 300 250 Q410 250 420 450 Q520 460 540 500 Q300 570 60 500 Q80 460 180 450 Z",
    lines: "M180 425 Q300 460 420 425 M180 450 Q300 490 420 450",
    back: "M180 425 Q300 460 420 425 M180 450 Q300 490 420 450 M268 438 Q300 392 332 438 M286 446 L314 446 L314 470 L286 470 Z",
  },
  bag: {
    body: "M150 340 L450 340 L490 660 L110 660 Z",
    lines:
      "M220 340 Q220 200 300 200 Q380 200 380 340 M150 420 L450 420 M285 405 L315 405 L315 440 L285 440 Z",
    back: "M220 340 Q220 200 300 200 Q380 200 380 340 M150 372 L450 372 M190 460 L410 460 L410 610 L190 610 Z",
  },
  knit: {
    body: "M215 195 L262 172 L266 148 Q300 160 334 148 L338 172 L385 195 L505 330 L492 560 L428 560 L420 370 L398 345 L398 630 L202 630 L202 345 L180 370 L172 560 L108 560 L95 330 Z",
    lines:
      "M202 585 L398 585 M262 172 Q300 196 338 172 M172 525 L108 525 M492 525 L428 525 M232 600 L232 630 M266 600 L266 630 M300 600 L300 630 M334 600 L334 630 M368 600 L368 630 M255 230 Q240 260 255 290 Q270 320 255 350 Q240 380 255 410 Q270 440 255 470 M345 230 Q330 260 345 290 Q360 320 345 350 Q330 380 345 410 Q360 440 345 470",
    back: "M205 575 L395 575 M268 168 Q300 182 332 168 M262 186 Q300 204 338 186 M240 200 L240 575 M300 206 L300 575 M360 200 L360 575",
  },
  person: {
    body: "M300 120 Q370 120 370 205 Q370 275 325 300 L330 330 Q450 350 470 460 L480 800 L120 800 L130 460 Q150 350 270 330 L275 300 Q230 275 230 205 Q230 120 300 120 Z",
    lines: "M240 190 Q300 150 360 190 M270 330 Q300 365 330 330",
    back: "M300 330 L300 800",
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

/** The paint of a seed, by its color and pattern; `id` identifies its definitions within one picture. */
export function toPaint(seed: string, id: string): Paint {
  const look = toLook(seed);
  const named = colorOfWords(seed);
  const {
    hue,
    saturation,
    lightness: light,
  } = named ?? {
    hue: look % 360,
    saturation: 30 + ((look >>> 12) % 40),
    lightness: 32 + ((look >>> 24) % 30),
  };
  const cloth = `hsl(${hue}, ${saturation}%, ${light}%)`;
  // Lines are seen on black cloth too.
  const seam = light < 20 ? `hsl(${hue}, 12%, 46%)` : `hsl(${hue}, 30%, 18%)`;
  const kind = patternOfWords(seed) ?? (["plain", "stripes", "plain", "dots"] as const)[(look >>> 15) % 4];
  if (kind === "plain") return { defs: "", fill: cloth, seam };
  const step = 28 + ((look >>> 5) % 24);
  const ink = light > 72 ? "#39404d" : "#fff";
  const mark =
    kind === "stripes"
      ? `<rect width="${step}" height="${step / 3}" fill="${ink}" opacity="0.35"/>`
      : `<circle cx="${step / 2}" cy="${step / 2}" r="${step / 6}" fill="${ink}" opacity="0.5"/>`;
  const defs = [
    `<defs><pattern id="${id}" width="${step}" height="${step}" patternUnits="userSpaceOnUse">`,
    `<rect width="${step}" height="${step}" fill="${cloth}"/>${mark}</pattern></defs>`,
  ].join("");
  return { defs, fill: `url(#${id})`, seam };
}

/** The subject of a picture, a garment and its side; an unknown one is replaced by a choice of the seed. */
export function toSubject(subject: string, seed: string): Subject {
  const [name = ""] = subject.split(" ");
  if ((subjects as readonly string[]).includes(name)) return name as Subject;
  return subjects[toLook(seed) % (subjects.length - 1)]!;
}
