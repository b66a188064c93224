import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import type { Client } from "../../../src/client/client.ts";
import { exportedValue } from "../../../src/flows/import/said.ts";
import { openState, type State } from "../../../src/state/state.ts";
import { tinyPng } from "../../mock/world.ts";
import { photo } from "../photos/photo-folder.ts";
import { KillableProcess, Killed } from "./killable-process.ts";
import { importWorld } from "./run-import.ts";

export const columns = "reference,name,image_front,image_back";
/** The photos of the folder, each with other bytes. */
const contents = ["a", "b", "c", "n", "m"];

export type KillsWorld = Awaited<ReturnType<typeof killsWorld>>;

/** A process that ends by itself. */
export const neverKilled = Number.POSITIVE_INFINITY;

/** A test environment with local photos, and what the service has in words. */
export async function killsWorld() {
  const world = await importWorld();
  for (const content of contents) await writeFile(join(world.folder, `${content}.png`), photo(content));
  const live = () => {
    const { products, images } = world.mock.state().organizations.main;
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
  };
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

/** What a command does to the state of a machine, through a client that may be disturbed. */
export type Command = (state: State, through: (client: Client) => Client) => Promise<unknown>;

/** Runs a command that is killed at a step; returns its number of steps, and whether it was killed. */
export async function killedAt(
  steps: number,
  state: State,
  command: Command,
): Promise<{ steps: number; isKilled: boolean }> {
  const life = new KillableProcess(steps);
  try {
    await command(life.state(state), life.client);
  } catch (error) {
    if (!life.isOver || !isOfKill(error)) throw error;
  }
  return { steps: life.steps, isKilled: life.isOver };
}

const isOfKill = (error: unknown): boolean =>
  error instanceof Killed || (error instanceof Error && error.cause instanceof Killed);

/** Imports a sheet, with flags. */
export const importOf =
  (world: KillsWorld, file: string, flags: Parameters<KillsWorld["import"]>[1] = {}): Command =>
  async (state, through) => {
    const ran = await world.import(
      file,
      { ...flags, concurrency: 2, machine: { ...flags.machine, state } },
      through,
    );
    if (ran.stopped instanceof Error) throw ran.stopped;
    return ran;
  };

/** A machine without memory. */
export const newMachine = (world: KillsWorld): Promise<State> => openState(null, { clock: world.clock });

/** The outcome of an import that ended, by what its summary counts. */
export function counted(ran: unknown, ...counts: string[]): Record<string, number> {
  const { summary } = ran as { summary: Record<string, number> | null };
  expect(summary).not.toBeNull();
  return Object.fromEntries(counts.map((count) => [count, summary![count]!]));
}
