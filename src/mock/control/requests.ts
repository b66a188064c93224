import type { ControlRoute } from "./control-route.ts";

/** What the mock has been asked, newest last. */
export const requestRoutes: readonly ControlRoute[] = [
  { method: "GET", path: "/_mock/requests", work: (world) => world.log.list() },
];
