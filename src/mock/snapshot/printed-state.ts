import type { World } from "../world/world.ts";
import { jsonPieces, takeSnapshot } from "./snapshot.ts";

/** Texts are gathered to this many characters before they become bytes. */
const pieceLength = 64 * 1024;

/**
 * The whole state as bytes, all at once, so that nothing changes in between; in pieces, as one text may be too short for it.
 * Each is twice as long as the one before: memory outside the heap makes V8 collect garbage every few times it is asked for.
 */
export function printedState(world: World): Buffer[] {
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
  for (const piece of jsonPieces(takeSnapshot(world))) {
    text += piece;
    if (text.length < pieceLength) continue;
    write(text);
    text = "";
  }
  write(text);
  return [...buffers, room.subarray(0, used)];
}
