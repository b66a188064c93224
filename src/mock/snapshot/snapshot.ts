import * as z from "zod";
import { lastMoment } from "../../clock.ts";
import { limits } from "../../contract/limits.ts";
import { Ulid } from "../../contract/resources/fields.ts";
import { modelSexes } from "../../contract/value-sets.ts";
import { continueExport } from "../exports/export-job.ts";
import { continueImport } from "../jobs/import-job.ts";
import { continueTask } from "../jobs/task-job.ts";
import { organizationNames } from "../rules/authenticate.ts";
import { Ids } from "../seed/ids.ts";
import type { ImageRecord, Organization } from "../store/organization.ts";
import { isGeneration } from "../store/product-changes.ts";
import type { ImportJob } from "../store/records.ts";
import { KeptTimestamp, lastNow } from "../store/state-fields.ts";
import type { World } from "../world/world.ts";
import { DeliveryState, WebhookState } from "./delivery-state.ts";
import { ExportState } from "./export-state.ts";
import { ImportState } from "./import-state.ts";
import { KeyState } from "./key-state.ts";
import { areMadeFor, ImageState, ProductState } from "./product-state.ts";
import { haveTheirs, TaskState } from "./task-state.ts";

const count = z.int().min(0);
const text = z.string();
const word = z.int().min(-0x8000_0000).max(0x7fff_ffff);

const moment = count.max(lastNow);

type Mark<Item> = readonly [what: string, of: (item: Item) => unknown];
/** A list whose items have unique marks of each kind; undefined marks are ignored. */
const unique = <Item extends z.ZodType>(item: Item, ...marks: Mark<z.output<Item>>[]) =>
  z.array(item).superRefine((items, context) => {
    for (const [what, of] of marks) {
      const seen = new Set<unknown>();
      const twin = items.findIndex((one) => {
        const mark = of(one);
        return mark !== undefined && seen.size === seen.add(mark).size;
      });
      if (twin >= 0) {
        context.addIssue({ code: "custom", path: [twin], message: `duplicate ${what}` });
      }
    }
  });

/** A model of the organization; its ID is a ULID (Model). Curated models are not part of the state. */
const ModelState = z.strictObject({
  id: Ulid,
  name: text.nullable(),
  is_public: z.boolean(),
  sex: z.enum(modelSexes).nullable(),
  body_type: text.nullable(),
  age_bracket: text.nullable(),
  ethnicity: text.nullable(),
  hair_color: text.nullable(),
  eye_color: text.nullable(),
});

const OrganizationFields = z.strictObject({
  /** In order of creation, including deleted products. */
  products: unique(
    ProductState,
    ["id", ({ id }) => id],
    ["order", ({ order }) => order],
    // The reference of a deleted product is free again.
    ["reference", ({ reference, deleted_at }) => (deleted_at === null ? reference : undefined)],
  ),
  images: unique(ImageState, ["id", ({ id }) => id]),
  imports: unique(ImportState, ["id", ({ id }) => id]),
  exports: unique(ExportState, ["id", ({ id }) => id]),
  webhooks: unique(WebhookState, ["id", ({ id }) => id], ["order", ({ order }) => order]),
  /** In order of creation. */
  tasks: unique(TaskState, ["id", ({ id }) => id]),
  models: unique(ModelState, ["id", ({ id }) => id]),
  credits: count.nullable(),
  idempotency_keys: unique(KeyState, ["key", ({ key }) => key]),
  rate_window: z.strictObject({
    started_at: moment.multipleOf(limits.rateWindowMs),
    reads: count,
    writes: count,
  }),
});

const OrganizationState = OrganizationFields.refine(
  haveTheirs,
  "an image of a product, or the product or output of a task, is missing",
).refine(areMadeFor, "an image listed under generations was not made for that product");

/** The complete state of the mock as one JSON document: the body of GET and PUT /_mock/state. */
export const MockState = z.strictObject({
  version: z.literal(1),
  /** Time of the snapshot on the mock's clock. */
  now: KeptTimestamp.refine((now) => Date.parse(now) <= lastNow, "is after the year 9999"),
  /** Secret for the signatures of URLs and cursors. */
  secret: z.string().min(1),
  ids: z.strictObject({ random: z.tuple([word, word, word, word]), time: moment.nullable() }),
  organizations: z.strictObject({ main: OrganizationState, other: OrganizationState }),
  /** Oldest first. */
  deliveries: unique(DeliveryState, ["id", ({ id }) => id]),
});
export type MockState = z.infer<typeof MockState>;

/**
 * The current state. It shares objects with the mock, which keeps changing them: copy or print it
 * immediately.
 */
export function takeSnapshot(world: World): MockState {
  const { main, other } = world.organizations;
  return {
    version: 1,
    now: world.timestamp(),
    secret: world.secret,
    ids: world.ids.state(),
    organizations: { main: stateOf(main), other: stateOf(other) },
    deliveries: [...world.deliveries.all()],
  };
}

function stateOf(organization: Organization): z.infer<typeof OrganizationState> {
  return {
    products: [...organization.products.all()] as z.infer<typeof ProductState>[],
    images: [...organization.images.values()].map(imageState),
    imports: [...organization.imports.values()] as z.infer<typeof ImportState>[],
    exports: [...organization.exports.values()] as z.infer<typeof ExportState>[],
    webhooks: [...organization.webhooks.all()] as z.infer<typeof WebhookState>[],
    tasks: [...organization.tasks.all()],
    models: organization.models as z.infer<typeof ModelState>[],
    credits: organization.credits,
    idempotency_keys: [...organization.keys.state()] as z.infer<typeof KeyState>[],
    rate_window: organization.rate.state(),
  };
}

/** Drawn images, the majority in a large catalog, are not copied. */
const imageState = (image: ImageRecord): z.infer<typeof ImageState> =>
  image.bytes === null
    ? (image as ImageRecord & { bytes: null })
    : { ...image, bytes: image.bytes.toString("base64") };

/**
 * Restores a snapshot. Jobs continue from there; overdue steps run immediately, with the current time. The
 * clock is never moved back.
 */
export function restoreSnapshot(world: World, state: MockState): void {
  world.letThrough();
  world.cancelTimers();
  world.empty();
  // A ticking clock may be past the last time that it can be moved to.
  const ahead = Math.min(lastMoment, Date.parse(state.now)) - world.clock.now();
  if (ahead > 0) world.clock.advance(ahead);
  world.useSecret(state.secret);
  const { random, time } = state.ids;
  world.ids = new Ids({ random, time: time === null ? null : Math.min(time, lastMoment - room) }, () =>
    world.clock.now(),
  );
  for (const name of organizationNames) fill(world, world.organizations[name], state.organizations[name]);
  world.deliveries.restore(structuredClone(state.deliveries));
  // Runs overdue steps now, even if the clock does not tick.
  world.clock.advance(0);
}

/**
 * More than a mock ever counts, and far below the maximum of a state. It keeps the state valid when counting
 * continues after a restore.
 */
const room = 1e12;

/** Items by their order; renumbered from 0 if the numbers are higher than `room`. */
function inOrder<Thing extends { order: number }>(things: Thing[]): Thing[] {
  things.sort((a, b) => a.order - b.order);
  return (things.at(-1)?.order ?? 0) <= room ? things : things.map((thing, order) => ({ ...thing, order }));
}

function fill(world: World, organization: Organization, state: z.infer<typeof OrganizationState>): void {
  const { products, images, imports, exports, webhooks, tasks, models, idempotency_keys, rate_window } =
    structuredClone(state);
  for (const product of inOrder(products)) organization.products.restore(product);
  for (const { bytes, ...image } of images) {
    const uploaded = bytes === null ? null : Buffer.from(bytes, "base64");
    organization.images.set(image.id, { ...image, bytes: uploaded });
  }
  if (images.some(({ generation }) => generation !== null)) {
    for (const product of organization.products.newestFirst(null)) {
      for (const { id } of product.images) {
        if (isGeneration(organization, id)) organization.attached.add(id, product);
      }
    }
  }
  organization.models.push(...models);
  organization.credits = state.credits;
  const now = world.clock.now();
  for (const { at, ...key } of idempotency_keys.sort((a, b) => a.at - b.at)) {
    // A key from the future would live longer than 24 hours, and so would the keys after it.
    organization.keys.restore({ ...key, at: Math.min(at, now) });
  }
  organization.rate.restore(rate_window);
  for (const job of imports as ImportJob[]) {
    organization.imports.set(job.id, job);
    continueImport(world, organization, job);
  }
  for (const webhook of inOrder(webhooks)) {
    organization.webhooks.restore({ ...webhook, rotations: Math.min(webhook.rotations, room) });
  }
  for (const job of exports) {
    organization.exports.set(job.id, job);
    continueExport(world, organization, job);
  }
  for (const task of tasks) {
    organization.tasks.add(task);
    continueTask(world, organization, task);
  }
}

/** A value as JSON in pieces, one line per list item: a large state exceeds the maximum string length. */
export function* jsonPieces(value: unknown, depth = 4): Generator<string> {
  if (depth === 0 || typeof value !== "object" || value === null) {
    yield JSON.stringify(value);
    return;
  }
  const isList = Array.isArray(value);
  const entries = isList ? value.entries() : Object.entries(value).filter(([, item]) => item !== undefined);
  let before = isList ? "[\n" : "{\n";
  for (const [name, item] of entries) {
    yield isList ? before : `${before}${JSON.stringify(name)}: `;
    yield* jsonPieces(item, isList ? 0 : depth - 1);
    before = ",\n";
  }
  yield before === ",\n" ? (isList ? "\n]" : "\n}") : isList ? "[]" : "{}";
}
