/** Every bench by name. Each gives rows of `{ what, ratio, goal, atMost?, note? }`. */
export const benches = {
  "start-up": async () => (await import("./start-up.js")).measure(),
  check: async () => (await import("./check.js")).measure(),
  mock: async () => (await import("./mock.js")).measure(),
  scale: async () => (await import("./scale.js")).measure(),
  zip: async () => (await import("./zip.js")).measure(),
  "import-million": async () => (await import("./import-million.js")).measure(),
  "import-again": async () => (await import("./import-again.js")).measure(),
  // Waits for real minutes to pass, so it comes last.
  "import-windows": async () => (await import("./import-windows.js")).measure(),
};
