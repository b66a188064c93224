import { createHash } from "node:crypto";
import { InputError, type Source } from "./source.ts";

/**
 * Rows that are made from flags, as an input of its own: NDJSON in memory. `name` is shown in messages; `place` is the path
 * that files about it are next to, null where there is none.
 */
export function textSource(name: string, text: string, place: string | null = null): Source {
  const bytes = Buffer.from(text);
  return {
    name,
    format: "ndjson",
    bytes: bytes.length,
    path: null,
    place,
    async *read() {
      yield bytes;
    },
    digest: createHash("sha256").update(bytes).digest("hex"),
    rejectIfChanged: async () => {},
    changed: () => new InputError(`${name} changed`, "file_changed"),
    close: async () => {},
  };
}
