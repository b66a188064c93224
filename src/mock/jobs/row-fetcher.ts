import type { AcceptedRow, ImportJob } from "../store/import-record.ts";
import type { Organization } from "../store/organization.ts";
import type { Life } from "../work/life.ts";
import { Turnstile } from "../work/turnstile.ts";
import type { World } from "../world/world.ts";
import { type Fetched, fetchImage } from "./fetch-image.ts";
import { failureOf, needsImages, type RowImages } from "./row-images.ts";

/** Maximum number of concurrent fetches per import. */
const atOnce = 16;
/** Maximum number of images fetched or in flight for later rows. */
const mostAhead = 32;

/** Fetches the images of an import slightly ahead of its rows, which are processed in order. */
export class RowFetcher {
  readonly #world: World;
  readonly #organization: Organization;
  readonly #job: ImportJob;
  readonly #life: Life;
  readonly #door = new Turnstile(atOnce);
  readonly #begun = new Map<number, Promise<RowImages | null>>();
  #next = 0;
  #ahead = 0;

  constructor(world: World, organization: Organization, job: ImportJob) {
    this.#world = world;
    this.#organization = organization;
    this.#job = job;
    this.#life = world.life;
  }

  /** The images of the row that is processed now. */
  async imagesOf(index: number): Promise<RowImages | null> {
    const { rows } = this.#job;
    this.#next = Math.max(this.#next, index);
    while (this.#next < rows.length && (this.#next === index || this.#ahead < mostAhead)) {
      const { row } = rows[this.#next]!;
      this.#ahead += row!.images.length;
      this.#begun.set(this.#next++, this.#fetch(row!));
    }
    const { row } = rows[index]!;
    const images = await this.#begun.get(index)!;
    this.#begun.delete(index);
    this.#ahead -= row!.images.length;
    // The images may be needed only now, for example if the product that the row was skipped for was deleted.
    return images ?? this.#fetch(row!);
  }

  #fetch(row: AcceptedRow): Promise<RowImages | null> {
    if (!needsImages(this.#organization, this.#job, row)) return Promise.resolve(null);
    return Promise.all(row.images.map(({ url }) => this.#fetchOne(url)));
  }

  async #fetchOne(url: string | undefined): Promise<Fetched | null> {
    if (url === undefined || failureOf(url) !== null) return null;
    await this.#door.enter();
    try {
      return await fetchImage(this.#world.network, url, this.#life);
    } finally {
      this.#door.leave();
    }
  }
}
