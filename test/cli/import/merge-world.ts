import { readFileSync } from "node:fs";
import { expect } from "vitest";
import { createWorld, type TestWorld } from "../../support/world.ts";

export const cdn = "https://cdn.example.com";

const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

/** A photo whose bytes are those of a text. */
export const photo = (text: string): Buffer => Buffer.concat([png, Buffer.from(text)]);

/** A summary of an import that did nothing. */
export const nothingDone = {
  ...{ submitted: 0, created: 0, updated: 0, failed: 0, partial: 0, unchanged: 0 },
  ...{ kept: 0, conflicts: 0, deleted: 0, known_failures: 0 },
  photos: { added: 0, replaced: 0, removed: 0, moved: 0, adopted: 0 },
  not_applied: { emptied: 0, removed: 0 },
};

/** An empty catalogue, with two machines. */
export async function mergeWorld() {
  const world: TestWorld = await createWorld({ mock: { demo: 0, rateLimit: false } });
  const home = (machine: string) => ({ env: { CAT_HOME: `${world.folder}/.${machine}` } });
  const writes = () =>
    world.requests().filter(({ method, path }) => method !== "GET" && path.startsWith("/v1/"));
  return {
    ...world,
    home,
    /** The writes that the service received since `from`: method and path, with the reference or number of what it names. */
    writes: (from = 0) =>
      writes()
        .slice(from)
        .map(({ method, path }) =>
          `${method} ${path.split("?")[0]!.replace(/^\/v1\//, "")}`.replace(
            /\b[0-9A-HJKMNP-TV-Z]{26}\b/g,
            "ID",
          ),
        ),
    /** Writes a sheet of rows; the first one is the header. */
    sheet: (file: string, ...rows: string[]) => world.write(file, `${rows.join("\n")}\n`),
    /** Replaces texts in a file. */
    edit(file: string, ...texts: (readonly [string, string])[]): void {
      let text = readFileSync(`${world.folder}/${file}`, "utf8");
      for (const [old, now] of texts) {
        expect(text).toContain(old);
        text = text.replace(old, now);
      }
      world.write(file, text);
    },
    /** The products: reference, fields, and the side of each photo with the number of the image. */
    shown: (): string[] =>
      world
        .products()
        .map(({ reference, name, description, sex, images }) =>
          [
            reference,
            name,
            description ?? "-",
            sex ?? "-",
            images.map(({ orientation }) => orientation).join("+"),
          ].join(" "),
        ),
    /** The image IDs of a product. */
    images: (reference: string): string[] =>
      world
        .products()
        .find((product) => product.reference === reference)!
        .images.map(({ id }) => id),
    /** Orders a fault of the service; without an order, removes all. */
    async fault(order?: object): Promise<void> {
      const method = order === undefined ? "DELETE" : "POST";
      const body = order === undefined ? null : JSON.stringify(order);
      await fetch(`${world.mock.baseUrl}/_mock/faults`, { method, body });
    },
    /** Runs commands that succeed. */
    async all(...lines: string[]): Promise<void> {
      for (const line of lines) expect(await world.cat(line)).toMatchObject({ exit: 0 });
    },
    /** Imports on a machine; returns the exit status and the summary. */
    async import(line: string, machine = "home"): Promise<[number, Record<string, unknown>]> {
      const { exit, stdout } = await world.cat(`import ${line} --json --no-progress`, home(machine));
      return [exit, stdout === "" ? {} : JSON.parse(stdout)];
    },
  };
}

export type MergeWorld = Awaited<ReturnType<typeof mergeWorld>>;
