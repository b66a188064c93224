/** Every bench by name. Each returns rows of `{ what, ratio, goal?, atMost?, note? }`, or of `{ what, goal, skipped }` with the reason. */
export const benches = {
  "start-up": async () => (await import("./start-up.js")).measure(),
  list: async () => (await import("./list.js")).measure(),
  check: async () => (await import("./check.js")).measure(),
  workbooks: async () => (await import("./workbooks.js")).measure(),
  mock: async () => (await import("./mock.js")).measure(),
  scale: async () => (await import("./scale.js")).measure(),
  gallery: async () => (await import("./gallery.js")).measure(),
  mcp: async () => (await import("./mcp.js")).measure(),
  listen: async () => (await import("./listen.js")).measure(),
  zip: async () => (await import("./zip.js")).measure(),
  extract: async () => (await import("./extract.js")).measure(),
  "import-million": async () => (await import("./import-million.js")).measure(),
  "import-again": async () => (await import("./import-again.js")).measure(),
  "second-machine": async () => (await import("./second-machine.js")).measure(),
  notify: async () => (await import("./notify.js")).measure(),
  plan: async () => (await import("./plan.js")).measure(),
  saves: async () => (await import("./saves.js")).measure(),
  "live-rows": async () => (await import("./live-rows.js")).measure(),
  artifact: async () => (await import("./artifact.js")).measure(),
  "mirror-pace": async () => (await import("./mirror-pace.js")).measure(),
  "mirror-files": async () => (await import("./mirror-files.js")).measure(),
  label: async () => (await import("./label.js")).measure(),
  "mirror-memory": async () => (await import("./mirror-memory.js")).measure(),
  bucket: async () => (await import("./bucket.js")).measure(),
  "sync-unchanged": async () => (await import("./sync-unchanged.js")).measure(),
  "user-time": async () => (await import("./user-time.js")).measure(),
  // Last, because it waits for real minutes.
  "import-windows": async () => (await import("./import-windows.js")).measure(),
  tryons: async () => (await import("./tryons.js")).measure(),
  "million-mirror": async () => (await import("./million/mirror.js")).measure(),
};

/** Those that take over an hour: they run only when they are named. */
export const longBenches = ["million-mirror"];
