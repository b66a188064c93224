import type { OrganizationName } from "../rules/api-keys.ts";
import { IdempotencyKeys } from "../rules/idempotency.ts";
import { RateWindow } from "../rules/rate-limit.ts";
import { Catalogue } from "./catalogue.ts";
import type {
  ExportRecord,
  ImageRecord,
  ImportJob,
  ModelRecord,
  TaskRecord,
  WebhookRecord,
} from "./records.ts";

/** Number of consecutive abandoned events after which a webhook is disabled. */
export const abandonedUntilDisabled = 5;

/** The webhooks of one organization, in order of creation. */
export class Webhooks {
  readonly #byId = new Map<string, WebhookRecord>();
  #nextOrder = 0;

  add(fields: Omit<WebhookRecord, "order">): WebhookRecord {
    const webhook = { order: this.#nextOrder, ...fields };
    this.restore(webhook);
    return webhook;
  }

  get(id: string): WebhookRecord | undefined {
    return this.#byId.get(id);
  }

  delete(id: string): void {
    this.#byId.delete(id);
  }

  all(): Iterable<WebhookRecord> {
    return this.#byId.values();
  }

  /** Newest first, starting after the one with order `after` (null: from the newest). */
  newestFirst(after: number | null): WebhookRecord[] {
    return [...this.#byId.values()].reverse().filter(({ order }) => after === null || order < after);
  }

  /** Restores a webhook of a snapshot; must be called in order of creation. */
  restore(webhook: WebhookRecord): void {
    this.#byId.set(webhook.id, webhook);
    this.#nextOrder = webhook.order + 1;
  }
}

/** A task and its position in the order of creation; cursors use it. */
export interface PlacedTask {
  readonly task: TaskRecord;
  readonly place: number;
}

/** The tasks of one organization. Tasks are never deleted, so their positions are stable keys. */
export class Tasks {
  readonly #all: TaskRecord[] = [];
  readonly #byId = new Map<string, TaskRecord>();
  /** Positions of each product's tasks, to list them without a scan. */
  readonly #ofProduct = new Map<string, number[]>();

  add(task: TaskRecord): void {
    const places = this.#ofProduct.get(task.product_id);
    if (places === undefined) this.#ofProduct.set(task.product_id, [this.#all.length]);
    else places.push(this.#all.length);
    this.#all.push(task);
    this.#byId.set(task.id, task);
  }

  get(id: string): TaskRecord | undefined {
    return this.#byId.get(id);
  }

  /** In order of creation. */
  all(): readonly TaskRecord[] {
    return this.#all;
  }

  /** Newest first, starting after position `after` (null: from the newest), optionally of one product. */
  *newestFirst(after: number | null, productId: string | undefined): Generator<PlacedTask> {
    if (productId === undefined) {
      for (let place = Math.min(after ?? Infinity, this.#all.length) - 1; place >= 0; place--) {
        yield { task: this.#all[place]!, place };
      }
      return;
    }
    const places = this.#ofProduct.get(productId) ?? [];
    for (let at = places.length - 1; at >= 0; at--) {
      const place = places[at]!;
      if (after === null || place < after) yield { task: this.#all[place]!, place };
    }
  }
}

/** All data of one organization; no other organization can see it (What the service does). */
export class Organization {
  readonly name: OrganizationName;
  readonly products = new Catalogue();
  readonly images = new Map<string, ImageRecord>();
  readonly imports = new Map<string, ImportJob>();
  readonly webhooks = new Webhooks();
  readonly exports = new Map<string, ExportRecord>();
  readonly tasks = new Tasks();
  /** Models of the organization, and the curated ones that a test has set. */
  readonly models: ModelRecord[] = [];
  /** Remaining credits, one per generation; null for no limit. */
  credits: number | null = null;
  readonly keys = new IdempotencyKeys();
  readonly rate = new RateWindow();
  /** Images that may be linked to no product or task. */
  readonly unlinked: UnlinkedImages;

  /** `wake` calls a function at a time of the clock. */
  constructor(name: OrganizationName, wake: Wake) {
    this.name = name;
    this.unlinked = new UnlinkedImages(this, wake);
  }
}

/** `looks` are body type, age bracket, ethnicity, hair color and eye color. */
function curated(id: string, name: string, sex: "male" | "female" | "other", looks: string): ModelRecord {
  const [body_type = null, age_bracket = null, ethnicity = null, hair_color = null, eye_color = null] =
    looks.split(" ");
  return { id, name, is_public: true, sex, body_type, age_bracket, ethnicity, hair_color, eye_color };
}

/** The models that every organization can use; their IDs are short (Model). */
export const curatedModels: readonly ModelRecord[] = [
  curated("mdl_001", "Amara", "female", "slim 18-24 black black brown"),
  curated("mdl_002", "Bastian", "male", "athletic 25-34 white blond blue"),
  curated("mdl_003", "Chiyo", "female", "average 25-34 asian black brown"),
  curated("mdl_004", "Diego", "male", "average 35-44 hispanic brown brown"),
  curated("mdl_005", "Esra", "female", "curvy 25-34 middle-eastern brown hazel"),
  curated("mdl_006", "Femi", "male", "slim 18-24 black black brown"),
  curated("mdl_007", "Greta", "female", "average 45-54 white grey green"),
  curated("mdl_008", "Haruto", "male", "slim 25-34 asian black brown"),
  curated("mdl_009", "Ines", "female", "athletic 35-44 hispanic brown brown"),
  curated("mdl_010", "Jules", "other", "slim 25-34 white red grey"),
  curated("mdl_011", "Kiran", "other", "average 18-24 south-asian black brown"),
  curated("mdl_012", "Leila", "female", "plus 35-44 mixed black hazel"),
];

/** The first place of a curated model in cursors: models of the organization come first. */
const firstCurated = 1_000_000_000;

/** All models of an organization with their places, which never change. */
export function listModels({ models }: Organization): { model: ModelRecord; place: number }[] {
  const own = models.filter(({ is_public }) => !is_public);
  const set = models.filter(({ is_public }) => is_public);
  const listed = curatedModels.map((curated) => set.find(({ id }) => id === curated.id) ?? curated);
  const added = set.filter((model) => !listed.includes(model));
  return [
    ...own.map((model, place) => ({ model, place })),
    ...[...listed, ...added].map((model, at) => ({ model, place: firstCurated + at })),
  ];
}

/** The model with that ID: one of the organization or a curated one. */
export const findModel = (organization: Organization, id: string): ModelRecord | undefined =>
  organization.models.find((own) => own.id === id) ?? curatedModels.find((curated) => curated.id === id);

/** Calls a function at a time of the clock, in milliseconds since the epoch, with the current time. */
export type Wake = (time: number, run: (now: number) => void) => void;

/** The specification says only "later". */
const keptMs = 7 * 86_400_000;
/** Images are cleaned up together, because each time all products are read. */
const betweenMs = 3_600_000;

interface Holders {
  readonly images: Map<string, ImageRecord>;
  readonly products: Catalogue;
  readonly exports: ReadonlyMap<string, ExportRecord>;
}

/**
 * Uploads and detached photos. "Images linked to no product or task are cleaned up automatically later"
 * (Products, detach).
 */
class UnlinkedImages {
  readonly #holders: Holders;
  readonly #wake: Wake;
  /** When each image lost its link, oldest first. */
  readonly #since = new Map<string, number>();
  #isAwake = false;

  constructor(holders: Holders, wake: Wake) {
    this.#holders = holders;
    this.#wake = wake;
  }

  get size(): number {
    return this.#since.size;
  }

  /** Adds an image that was uploaded or lost a link. Another product may still have it. */
  add(imageId: string, now: number): void {
    this.#since.delete(imageId);
    this.#since.set(imageId, now);
    if (!this.#isAwake) this.#wakeAt(now + keptMs);
  }

  /** Removes an image that a product has now. */
  delete(imageId: string): void {
    this.#since.delete(imageId);
  }

  state(): { image_id: string; since: number }[] {
    return [...this.#since].map(([image_id, since]) => ({ image_id, since }));
  }

  #wakeAt(time: number): void {
    this.#isAwake = true;
    this.#wake(time, (now) => this.#cleanUp(now));
  }

  #cleanUp(now: number): void {
    const due = new Set<string>();
    for (const [id, since] of this.#since) {
      if (since + keptMs > now) break;
      due.add(id);
      this.#since.delete(id);
    }
    this.#keepLinked(due);
    for (const id of due) this.#holders.images.delete(id);
    const [next] = this.#since.values();
    if (next === undefined) this.#isAwake = false;
    else this.#wakeAt(Math.max(next + keptMs, now + betweenMs));
  }

  /** Takes out images of products and tasks, and those that a ZIP of an earlier export still reads. */
  #keepLinked(due: Set<string>): void {
    if (due.size === 0) return;
    const { images, products, exports } = this.#holders;
    for (const id of due) if ((images.get(id)?.generation ?? null) !== null) due.delete(id);
    const keep = (held: Iterable<{ readonly images: readonly { readonly id: string }[] }>) => {
      for (const product of held) for (const { id } of product.images) due.delete(id);
    };
    keep(products.newestFirst(null));
    for (const job of exports.values()) keep(job.products);
  }
}
