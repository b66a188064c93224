import { InputError, type Source } from "./source.ts";

/**
 * Rows that are made from flags, as an input of its own: NDJSON in memory. `name` is shown in messages; `place` is the path
 * that files about it are next to, null where there is none.
 */
export async function textSource(name: string, text: string, place: string | null = null): Promise<Source> {
  const { hash } = await import("node:crypto");
  const bytes = Buffer.from(text);
  return {
    name,
    format: "ndjson",
    path: null,
    place,
    async *read() {
      yield bytes;
    },
    digest: hash("sha256", bytes),
    rejectIfChanged: async () => {},
    changed: () => new InputError(`${name} changed`, "file_changed"),
    close: async () => {},
  };
}
