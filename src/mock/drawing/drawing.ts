import { lookOf, paintOf } from "./paint.ts";
import { silhouettes } from "./silhouettes.ts";
import { drawnSize, type Subject, subjects } from "./subjects.ts";

/** The subject of a picture; an unknown one is replaced by a choice of the seed. */
export function subjectOf(subject: string, seed: string): Subject {
  if ((subjects as readonly string[]).includes(subject)) return subject as Subject;
  return subjects[lookOf(seed) % (subjects.length - 1)]!;
}

/** A picture as SVG. The seed determines the colors, and also the subject if `subject` is unknown. */
export function drawingOf(subject: string, seed: string): string {
  const look = lookOf(seed);
  const shape = silhouettes[subjectOf(subject, seed)];
  const paperHue = ((look % 360) + 40 + ((look >>> 9) % 280)) % 360;
  const paper = `hsl(${paperHue}, 24%, ${86 + ((look >>> 18) % 8)}%)`;
  const floor = `hsl(${paperHue}, 20%, ${76 + ((look >>> 21) % 6)}%)`;
  const { defs, fill, seam } = paintOf(seed, "cloth");
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
