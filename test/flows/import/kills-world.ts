import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { exportedValue } from "../../../src/flows/import/said.ts";
import { tinyPng } from "../../mock/world.ts";
import { killedAfter } from "../../support/killed-command.ts";
import { photo } from "../photos/photo-folder.ts";
import { type By, type ImportFlags, type ImportWorld, importWorld } from "./run-import.ts";

export const columns = "reference,name,image_front,image_back";
/** The photos of the folder, each with other bytes. */
const contents = ["a", "b", "c", "n", "m"];

/** The products of the service, and the content of each photo (`photo`). */
export function liveProducts({ mock }: Pick<ImportWorld, "mock">) {
  const { products, images } = mock.state().organizations.main;
  const bytesOf = new Map(images.map(({ id, bytes }) => [id, bytes]));
  return products
    .filter(({ deleted_at }) => deleted_at === null)
    .map((product) => ({
      ...product,
      photos: product.images.map(({ id, orientation }) => {
        const bytes = Buffer.from(bytesOf.get(id) ?? "", "base64");
        return { id, side: orientation, content: bytes.subarray(tinyPng.length).toString() };
      }),
    }));
}

export type KillsWorld = Awaited<ReturnType<typeof killsWorld>>;

/** A process that ends by itself. */
export const neverKilled = Number.POSITIVE_INFINITY;

/** A test environment with local photos, and what the service has in words. */
export async function killsWorld() {
  const world = await importWorld();
  for (const content of contents) await writeFile(join(world.folder, `${content}.png`), photo(content));
  const live = () => liveProducts(world);
  return {
    ...world,
    live,
    write: async (name: string, ...lines: string[]) => world.write(name, `${lines.join("\n")}\n`),
    /** The products: reference, name, and `SIDE:CONTENT` of each photo. */
    shown: () =>
      live()
        .map(({ reference, name, photos }) =>
          [reference, name, ...photos.map(({ side, content }) => `${side}:${content}`).sort()].join(" "),
        )
        .sort(),
    /** The row that an exported sheet has of a product. */
    exported(reference: string, edit: (cells: string[]) => string[] = (same) => same): string {
      const { id, name, photos } = live().find((one) => one.reference === reference)!;
      const at = (side: string) => photos.find((one) => one.side === side)?.id ?? "";
      const known = photos.map(({ id: image_id, side }) => ({ place: side, side, image_id }));
      const value = exportedValue(id, { reference, name, photos: known } as never);
      return [...edit([reference, name, at("front"), at("back")]), value].join(",");
    },
    /** Another client changes a product. */
    async byOthers(reference: string, change: { name?: string; detach?: string }): Promise<void> {
      const product = live().find((one) => one.reference === reference)!;
      const product_id = product.id;
      if (change.name !== undefined)
        await world.client.products.update({ product_id, body: { name: change.name } });
      const image = product.photos.find(({ content }) => content === change.detach);
      if (image !== undefined && product.photos.length > 1)
        await world.client.products.detach({ product_id, image_id: image.id });
    },
  };
}

/** A command that may be judged; rejects with the error that stopped it. */
export type Command = (by?: By) => Promise<unknown>;

/** Runs a command that is killed at a step; returns its number of steps, and whether it was killed. */
export async function killedAt(
  steps: number,
  { clock }: KillsWorld,
  command: Command,
): Promise<{ steps: number; isKilled: boolean }> {
  const life = killedAfter(steps, clock);
  try {
    await command({ judge: life.judge });
  } catch (error) {
    if (!life.isOver) throw error;
  } finally {
    life.end();
  }
  return { steps: life.steps, isKilled: life.isOver };
}

/** Imports a sheet, with flags. */
export const importOf =
  (world: KillsWorld, file: string, flags: ImportFlags = {}, by: By = {}): Command =>
  async (more) => {
    const ran = await world.import(file, { ...flags, concurrency: 2 }, { ...by, ...more });
    if (ran.stopped !== undefined) throw new Error(ran.stopped.message);
    return ran;
  };

let machines = 0;

/** The name of a machine without memory. */
export const newMachine = (): string => `machine-${++machines}`;
