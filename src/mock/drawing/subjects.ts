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
