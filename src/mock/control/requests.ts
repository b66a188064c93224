import type { ControlRoute } from "./control-route.ts";

/** Lists the requests to the mock, newest last. */
export const requestRoutes: readonly ControlRoute[] = [
  { method: "GET", path: "/_mock/requests", work: (world) => world.log.list() },
];
