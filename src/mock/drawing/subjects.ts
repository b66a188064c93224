/** What a generated picture may show. */
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

/** The size of every generated picture, in pixels. */
export const drawnSize = { width: 600, height: 800 } as const;
