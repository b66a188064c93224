/** Every bench by name. Each gives rows of `{ what, ratio, goal, atMost?, note? }`. */
export const benches = {
  "start-up": async () => (await import("./start-up.js")).measure(),
  check: async () => (await import("./check.js")).measure(),
  mock: async () => (await import("./mock.js")).measure(),
  scale: async () => (await import("./scale.js")).measure(),
  zip: async () => (await import("./zip.js")).measure(),
};
