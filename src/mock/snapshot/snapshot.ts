import * as z from "zod";
import { lastMoment } from "../../clock.ts";
import { creditHeaders } from "../../contract/error-codes.ts";
import { limits } from "../../contract/limits.ts";
import { continueExport } from "../exports/export-job.ts";
import { FaultHeaders } from "../faults/fault-order.ts";
import { continueImport } from "../jobs/import-job.ts";
import { continueTask } from "../jobs/task-job.ts";
import { ApiKeyState, ApiKeys, isSecretKey, organizationNames, secretKeyRule } from "../rules/api-keys.ts";
import { Ids } from "../seed/seed.ts";
import type { Organization } from "../store/organization.ts";
import {
  count,
  DeliveryRecord,
  ExportRecord,
  type ImageRecord,
  ImageState,
  ImportJob,
  ModelRecord,
  Moment,
  ProductRecord,
  TaskRecord,
  Timestamp,
  text,
  WebhookRecord,
} from "../store/records.ts";
import type { World } from "../world/world.ts";

/** The headers that a stored response may have, beside those of every response. */
const storedHeaders = ["Retry-After", creditHeaders.needed, creditHeaders.left] as const;

/** An idempotency key with its stored response, which is replayed byte by byte. */
const KeyState = z.strictObject({
  key: text.min(1).max(limits.idempotencyKeyLength),
  /** Null if any request finds the key in use. */
  fingerprint: text.nullable(),
  at: Moment,
  /** Null if the request crashed before its response was recorded. */
  answer: z
    .strictObject({
      status: z.int().min(200).max(499),
      body: text.nullable(),
      headers: z.partialRecord(z.enum(storedHeaders), text.regex(/^\d{1,15}$/)).optional(),
      custom: FaultHeaders.optional(),
    })
    .nullable(),
});

const OrganizationState = z.strictObject({
  /** In order of creation, including deleted products. */
  products: z.array(ProductRecord),
  images: z.array(ImageState),
  imports: z.array(ImportJob),
  exports: z.array(ExportRecord),
  webhooks: z.array(WebhookRecord),
  /** In order of creation. */
  tasks: z.array(TaskRecord),
  models: z.array(ModelRecord),
  credits: count.nullable(),
  idempotency_keys: z.array(KeyState),
  /** Images that are cleaned up later, unless a product has them by then; oldest first. */
  unlinked_images: z.array(z.strictObject({ image_id: text, since: Moment })).optional(),
  rate_window: z.strictObject({
    started_at: count.multipleOf(limits.rateWindowMs),
    reads: count,
    writes: count,
  }),
});
export type OrganizationState = z.infer<typeof OrganizationState>;

const word = z.int().min(-0x8000_0000).max(0x7fff_ffff);

const StateFields = z.strictObject({
  version: z.literal(1),
  now: Timestamp,
  /** Secret for the signatures of URLs and cursors. */
  secret: text.min(1),
  ids: z.strictObject({
    random: z.tuple([word, word, word, word]),
    /** Far below the maximum time of a ULID, because each ID takes the next millisecond. */
    time: count.max(2 ** 48 - 1e12).nullable(),
  }),
  organizations: z.strictObject({ main: OrganizationState, other: OrganizationState }),
  /** True for a copy of a real catalogue: `keys` has all API keys then, and none of them is public. */
  real_data: z.literal(true).optional(),
  /** API keys that differ from those of every mock. */
  keys: z.array(ApiKeyState).optional(),
  /** Oldest first. */
  deliveries: z.array(DeliveryRecord),
});

/** The complete state of the mock as one JSON document: the body of GET and PUT /_mock/state. */
export const MockState = StateFields.superRefine(({ real_data, keys = [] }, { addIssue }) => {
  if (real_data !== true) return;
  if (keys.length === 0)
    addIssue({ code: "custom", path: ["keys"], message: "must have a key, because the mock has real data" });
  const guessable = keys.findIndex(({ key }) => !isSecretKey(key));
  if (guessable >= 0) addIssue({ code: "custom", path: ["keys", guessable, "key"], message: secretKeyRule });
});
export type SavedState = z.infer<typeof MockState>;

/** The current state. It shares objects with the mock: copy or print it immediately. */
export function takeSnapshot(world: World): SavedState {
  const { main, other } = world.organizations;
  const keys = world.keys.changed();
  return {
    version: 1,
    now: world.timestamp(),
    secret: world.secret,
    ids: world.ids.state(),
    organizations: { main: toState(main), other: toState(other) },
    ...(world.keys.areSecret && { real_data: true as const }),
    ...(keys.length > 0 && { keys }),
    deliveries: [...world.deliveries.all()],
  };
}

function toState(organization: Organization): OrganizationState {
  return {
    products: [...organization.products.all()],
    images: [...organization.images.values()].map(toImageState),
    imports: [...organization.imports.values()],
    exports: [...organization.exports.values()],
    webhooks: [...organization.webhooks.all()],
    tasks: [...organization.tasks.all()],
    models: organization.models,
    credits: organization.credits,
    idempotency_keys: [...organization.keys.state()],
    ...(organization.unlinked.size > 0 && { unlinked_images: organization.unlinked.state() }),
    rate_window: organization.rate.state(),
  };
}

/** Drawn images, the majority in a large catalog, are not copied. */
const toImageState = (image: ImageRecord): ImageState =>
  image.bytes === null
    ? (image as ImageRecord & { bytes: null })
    : { ...image, bytes: image.bytes.toString("base64") };

const toImage = (image: ImageState): ImageRecord =>
  image.bytes === null
    ? (image as ImageState & { bytes: null })
    : { ...image, bytes: Buffer.from(image.bytes, "base64") };

/** Restores a snapshot. Jobs continue; overdue steps run now. The clock is never moved back. */
export function restoreSnapshot(world: World, state: SavedState): void {
  world.letThrough();
  world.cancelTimers();
  world.empty();
  // A ticking clock may be past the last time that it can be moved to.
  const ahead = Math.min(lastMoment, Date.parse(state.now)) - world.clock.now();
  if (ahead > 0) world.clock.advance(ahead);
  world.useSecret(state.secret);
  world.ids = new Ids(state.ids, () => world.clock.now());
  world.keys = new ApiKeys({ areSecret: state.real_data === true });
  for (const key of state.keys ?? []) world.keys.put(structuredClone(key));
  for (const name of organizationNames) fill(world, world.organizations[name], state.organizations[name]);
  world.deliveries.restore(structuredClone(state.deliveries));
  // Runs overdue steps now, even if the clock does not tick.
  world.clock.advance(0);
}

function fill(world: World, organization: Organization, state: OrganizationState): void {
  const { images, unlinked_images = [], ...changing } = state;
  const { products, imports, exports, webhooks, tasks, models, idempotency_keys, rate_window } =
    structuredClone(changing);
  for (const product of products.sort(byOrder)) organization.products.restore(product);
  for (const image of images) organization.images.set(image.id, toImage(image));
  for (const { image_id, since } of unlinked_images) organization.unlinked.add(image_id, since);
  organization.models.push(...models);
  organization.credits = state.credits;
  const now = world.clock.now();
  // A key from the future would live longer than 24 hours, and so would the keys after it.
  for (const key of idempotency_keys) organization.keys.restore({ ...key, at: Math.min(key.at, now) });
  organization.rate.restore(rate_window);
  for (const job of imports) {
    organization.imports.set(job.id, job);
    continueImport(world, organization, job);
  }
  for (const webhook of webhooks.sort(byOrder)) organization.webhooks.restore(webhook);
  for (const job of exports) {
    organization.exports.set(job.id, job);
    continueExport(world, organization, job);
  }
  for (const task of tasks) {
    organization.tasks.add(task);
    continueTask(world, organization, task);
  }
}

const byOrder = (a: { order: number }, b: { order: number }): number => a.order - b.order;

/** Number of characters per buffer: many small buffers would trigger garbage collections in V8. */
const pieceLength = 4 * 1024 * 1024;

/**
 * The complete state as JSON bytes, written synchronously, so that nothing changes in between. It is in
 * pieces because it can be longer than the maximum string.
 */
export function printedState(world: World): Buffer[] {
  const buffers: Buffer[] = [];
  let text = "";
  for (const piece of jsonPieces(takeSnapshot(world))) {
    text += piece;
    if (text.length < pieceLength) continue;
    buffers.push(Buffer.from(text));
    text = "";
  }
  return [...buffers, Buffer.from(text)];
}

/** A value as JSON in pieces, one line per list item: a large state exceeds the maximum string length. */
function* jsonPieces(value: unknown, depth = 4): Generator<string> {
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
