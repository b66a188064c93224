import { Readable } from "node:stream";
import { parseJson } from "../rules/body.ts";
import { check } from "../rules/checks.ts";
import { printedState } from "../snapshot/printed-state.ts";
import { MockState, restoreSnapshot } from "../snapshot/snapshot.ts";
import type { ControlRoute } from "./control-route.ts";

/** Returns, replaces and resets the state of the mock. */
export const stateRoutes: readonly ControlRoute[] = [
  {
    method: "POST",
    path: "/_mock/reset",
    work: (world) => {
      world.reset();
      return { now: world.timestamp() };
    },
  },
  { method: "GET", path: "/_mock/state", work: (world) => Readable.from(printedState(world)) },
  {
    method: "PUT",
    path: "/_mock/state",
    work: (world, body) => {
      const state = check(MockState, parseJson(body), "body");
      restoreSnapshot(world, state);
      return { now: world.timestamp() };
    },
  },
];
