import { Readable } from "node:stream";
import { parseJson } from "../rules/body.ts";
import { check } from "../rules/checks.ts";
import { jsonPieces, MockState, restoreSnapshot, takeSnapshot } from "../snapshot.ts";
import type { ControlRoute } from "./control-route.ts";

/** Reads, replaces and empties everything the mock knows. */
export const stateRoutes: readonly ControlRoute[] = [
  {
    method: "POST",
    path: "/_mock/reset",
    work: (world) => {
      world.reset();
      return { now: world.timestamp() };
    },
  },
  { method: "GET", path: "/_mock/state", work: (world) => Readable.from(printed(takeSnapshot(world))) },
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

/** The whole state as bytes, all at once, so that nothing changes in between; in pieces, as one text may be too short for it. */
function printed(state: MockState): Buffer[] {
  const buffers: Buffer[] = [];
  let text = "";
  for (const piece of jsonPieces(state)) {
    text += piece;
    if (text.length < 1_000_000) continue;
    buffers.push(Buffer.from(text));
    text = "";
  }
  return [...buffers, Buffer.from(text)];
}
