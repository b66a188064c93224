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

/** Texts are gathered to this many characters before they become bytes. */
const pieceLength = 64 * 1024;

/**
 * The whole state as bytes, all at once, so that nothing changes in between; in pieces, as one text may be too short for it.
 * Each is twice as long as the one before: memory outside the heap makes V8 collect garbage every few times it is asked for.
 */
function printed(state: MockState): Buffer[] {
  const buffers: Buffer[] = [];
  let room = Buffer.allocUnsafe(pieceLength);
  let used = 0;
  const write = (text: string) => {
    const length = Buffer.byteLength(text);
    if (used + length > room.length) {
      buffers.push(room.subarray(0, used));
      room = Buffer.allocUnsafe(Math.max(length, room.length * 2));
      used = 0;
    }
    used += room.write(text, used);
  };
  let text = "";
  for (const piece of jsonPieces(state)) {
    text += piece;
    if (text.length < pieceLength) continue;
    write(text);
    text = "";
  }
  write(text);
  return [...buffers, room.subarray(0, used)];
}
