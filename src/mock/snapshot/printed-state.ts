import type { World } from "../world/world.ts";
import { jsonPieces, takeSnapshot } from "./snapshot.ts";

/** Number of characters to collect before they are encoded. */
const pieceLength = 64 * 1024;

/**
 * The complete state as JSON bytes, written synchronously, so that nothing changes in between. It is in
 * pieces because it can be longer than the maximum string. Each piece is twice the size of the last one:
 * frequent allocations outside the heap trigger garbage collections in V8.
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
