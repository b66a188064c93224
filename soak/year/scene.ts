import type { Mock, MockState } from "../../src/mock/index.ts";
import type { Random } from "../../src/mock/seed/seed.ts";
import type { startObjectStore } from "../../test/support/object-store.ts";
import type { TestClock } from "../../test/support/test-clock.ts";
import type { Machine, Site } from "./machine.ts";
import type { Photos, Sheet } from "./sheet.ts";
import type { Conflicts, Product, Shop } from "./shop.ts";

/** A year in play. */
export interface Scene {
  readonly seed: string;
  readonly random: Random;
  readonly clock: TestClock;
  readonly site: Site;
  readonly mock: Mock;
  readonly store: Awaited<ReturnType<typeof startObjectStore>>;
  /** Works at night. */
  readonly server: Machine;
  /** Merchandisers. */
  readonly ann: Machine;
  readonly ben: Machine;
  /** Receives events; its port is 0 before the first ones. */
  readonly hooks: Machine;
  hooksPort: number;
  readonly sheet: Sheet;
  readonly shop: Shop;
  readonly photos: Photos;
  readonly conflicts: Conflicts;
  readonly counts: Record<string, number>;
  /** The imports that Ben has sent. */
  readonly bens: Set<string>;
  /** Objects that the earlier version has left in the bucket. */
  readonly leftByEarlier: Set<string>;
  /** When the server has polled events, from its first poll to its last one, until it lost its state. */
  readonly polls: { from: number; to: number }[];
}

export const count = ({ counts }: Scene, name: string, by = 1): void => {
  counts[name] = (counts[name] ?? 0) + by;
};

export type StateNow = MockState["organizations"]["main"];
export const stateOf = ({ mock }: Scene): StateNow => mock.state().organizations.main;

/** The IDs of the products with each reference, in order of creation. */
export function livesOf({ products }: StateNow): Map<string, string[]> {
  const lives = new Map<string, string[]>();
  for (const { reference, id } of products)
    if (reference !== null) lives.set(reference, [...(lives.get(reference) ?? []), id]);
  return lives;
}

/** The tasks of an angle of a product, in order of creation. */
export const tasksOf = ({ tasks }: StateNow, productId: string | undefined, angle: string) =>
  tasks.filter((task) => task.product_id === productId && task.scene.angle_shot === angle);

/** The ID of a product of the model. */
export const idOf = (lives: ReadonlyMap<string, string[]>, { reference, life }: Product) =>
  lives.get(reference)?.[life];
