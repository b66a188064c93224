// Undoing what an import changed of one product: what of it can be undone as the product is now, and the
// requests for that. Each can be repeated: a second time it finds nothing to do.

import type { Product } from "../../../contract/resources/products.ts";
import type { LedgerFacts, ProductChange } from "../../../state/changes.ts";
import { productById } from "../../catalogue/lookups.ts";
import { sendFresh } from "../../run/fresh-write.ts";
import type { RequestInFlight } from "../../run/requests.ts";
import type { Run } from "../../run/run.ts";
import { orNull } from "../../service-errors.ts";
import { FieldDigests, type FieldValues } from "../digests.ts";
import {
  fieldsOf,
  type KnownImage,
  type ReadProduct,
  toReadProduct,
  unpackProduct,
} from "../known-product.ts";

export const undoParts = ["created", "fields", "photos"] as const;
export type UndoPart = (typeof undoParts)[number];

/** The undo of a change, and why the rest is kept. */
interface Verdict {
  readonly remove: boolean;
  readonly fields: FieldValues;
  readonly photos: readonly string[];
  /** The images to attach again, with the side that they had. */
  readonly attach: readonly KnownImage[];
  readonly kept: readonly string[];
}

const nothing: Verdict = { remove: false, fields: {}, photos: [], attach: [], kept: [] };
const keeping = (...kept: string[]): Verdict => ({ ...nothing, kept });

/** Whether the change has anything of the part to undo. */
export const isOfPart = ({ action }: Pick<ProductChange, "action">, part: UndoPart | null): boolean =>
  part === null || action === "sent" || (part === "created") === (action === "created");

/** The product before the import; null if it was not read. */
export const productBefore = ({ before }: Pick<ProductChange, "before">): ReadProduct | null =>
  before === null ? null : unpackProduct(before);

export function changedFields({ after }: ProductChange, before: ReadProduct): FieldValues {
  const changed = new FieldDigests(after).unlike(fieldsOf(before));
  return Object.fromEntries(changed.map((field) => [field, before[field]]));
}

/** The images that the import attached, and the product did not have before. */
export function photosAttached({ photos }: ProductChange, before: ReadProduct): string[] {
  const had = new Set(before.images.map(({ id }) => id));
  return photos.filter((photo) => !had.has(photo));
}

/** The verdict on the change of a product that is now `live`; null if it no longer exists. */
export function judge(change: ProductChange, live: Product | null, part: UndoPart | null): Verdict {
  const { action } = change;
  if (action === "created") return live === null ? nothing : judgeCreated(change, toReadProduct(live));
  if (action !== "updated") return keeping("the result of its batch is not known");
  if (live === null) return keeping("the product no longer exists");
  const before = productBefore(change);
  if (before === null) return keeping("the product was not read before the import");
  const { fields, kept } = part === "photos" ? nothing : judgeFields(change, before, toReadProduct(live));
  const photos = part === "fields" ? nothing : judgePhotos(change, before, toReadProduct(live));
  return { ...photos, fields, kept: [...kept, ...photos.kept] };
}

/** A created product is deleted only as the import left it. */
function judgeCreated({ after, photos }: ProductChange, live: ReadProduct): Verdict {
  const changed = new FieldDigests(after).unlike(fieldsOf(live));
  if (changed.length > 0) return keeping(`${changed.join(" and ")} changed since the import`);
  const others = live.images.filter(({ id, origin }) => !photos.includes(id) && origin === "user");
  if (others.length > 0) return keeping("photos were added since the import");
  return { ...nothing, remove: true };
}

function judgeFields(change: ProductChange, before: ReadProduct, live: ReadProduct): Verdict {
  const now = fieldsOf(live);
  const was = fieldsOf(before);
  const set = new FieldDigests(change.after);
  const changed = Object.entries(changedFields(change, before)) as [keyof FieldValues, string | null][];
  const kept: string[] = [];
  const fields = changed.filter(([field, value]) => {
    if (now.agrees(field, was)) return false;
    // The service takes no product without a name.
    const isBack = now.agrees(field, set) && (value !== null || field !== "name");
    if (!isBack) kept.push(`${field} changed since the import`);
    return isBack;
  });
  return { ...nothing, fields: Object.fromEntries(fields), kept };
}

function judgePhotos(change: ProductChange, before: ReadProduct, live: ReadProduct): Verdict {
  const added = photosAttached(change, before);
  const photos = live.images.flatMap(({ id }) => (added.includes(id) ? [id] : []));
  const isLive = (image: string) => live.images.some(({ id }) => id === image);
  const attach = before.images.filter(({ id }) => change.detached.includes(id) && !isLive(id));
  const movedTo = new Map(change.moved.map(({ image, side }) => [image, side]));
  const sideNow = (image: string) => live.images.find(({ id }) => id === image)?.side;
  // The import moved it, or attached it again. A photo without a side gets one from the service itself.
  const turned = before.images.filter(
    ({ id, side }) =>
      (side === "unlabeled" ? movedTo.get(id) : movedTo.has(id) || change.photos.includes(id)) &&
      ![undefined, side].includes(sideNow(id)),
  );
  const sided = turned.filter(({ id }) => [undefined, sideNow(id)].includes(movedTo.get(id)));
  const kept = sided.length < turned.length ? ["the orientation of a photo changed since the import"] : [];
  const verdict = { ...nothing, photos, attach: [...attach, ...sided], kept };
  if (photos.length === 0 || photos.length < live.images.length + attach.length) return verdict;
  // A product has at least one photo.
  return { ...verdict, photos: photos.slice(1), kept: [...kept, "its last photo cannot be detached"] };
}

/** A product that an import changed, after the undo. */
export interface UndoneProduct {
  readonly reference: string;
  readonly product_id: string;
  readonly result: "undone" | "kept" | "failed";
  readonly reasons: readonly string[];
}

interface ProductToUndo {
  readonly change: ProductChange;
  readonly live: Product | null;
  readonly lookedAt: number;
  readonly verdict: Verdict;
  readonly only: UndoPart | null;
  readonly isPlan: boolean;
  /** The run of the import. */
  readonly target: string;
  readonly begin: () => RequestInFlight;
  readonly summary: { deleted: number; set_back: number; detached: number; attached: number };
}

/** Sends the requests of a verdict, records that the change was undone, and returns why the rest is kept. */
export async function undoProduct(product: ProductToUndo, run: Run): Promise<readonly string[]> {
  const { change, live, verdict, target } = product;
  const { state, account } = run;
  const writes = new UndoWrites(product, run);
  await writes.removeOrSetBack();
  await writes.restorePhotos();
  const { kept } = writes;
  if (product.isPlan) return kept;
  // The service deletes images that no product uses: they have to be uploaded again.
  const isGone = verdict.remove || (live === null && change.action === "created");
  for (const image of isGone ? change.photos : verdict.photos) state.uploads.forgetImage(account, image);
  const isAll = kept.length === 0 && !hasRest(product);
  const facts = ledgerAfter({ change, verdict, kept }, run);
  state.changes.undone(account, target, change.productId, isAll, facts);
  return kept;
}

/** Whether the change has anything of another part left to undo. */
function hasRest({ change, live, verdict, only }: ProductToUndo): boolean {
  const rest = only === null ? verdict : judge(change, live, null);
  if (rest.kept.length > 0) return true;
  if (only === "fields") return rest.photos.length + rest.attach.length > 0;
  return only === "photos" && Object.keys(rest.fields).length > 0;
}

type CallKeys = { readonly idempotencyKey: string; readonly signal: AbortSignal };

/** The writes of a verdict about one product; what has changed meanwhile is kept. */
class UndoWrites {
  readonly kept: string[];
  readonly #product: ProductToUndo;
  readonly #run: Run;
  #lookedAt: number;

  constructor(product: ProductToUndo, run: Run) {
    this.#product = product;
    this.#run = run;
    this.kept = [...product.verdict.kept];
    this.#lookedAt = product.lookedAt;
  }

  async removeOrSetBack(): Promise<void> {
    const { change, verdict, summary } = this.#product;
    const { products } = this.#run.client;
    const product_id = change.productId;
    if (verdict.remove) {
      const send = (options: CallKeys) => products.delete({ product_id }, options);
      if (await this.#write(({ remove }) => remove, send)) summary.deleted++;
    }
    if (Object.keys(verdict.fields).length === 0) return;
    const body = verdict.fields as { name: string };
    const isSetBack = await this.#write(
      ({ fields }) => JSON.stringify(fields) === JSON.stringify(body),
      (options) => products.update({ product_id, body }, options),
    );
    if (isSetBack) summary.set_back++;
  }

  async restorePhotos(): Promise<void> {
    const { change, verdict, summary } = this.#product;
    const { products } = this.#run.client;
    const product_id = change.productId;
    // First, as a product keeps its last photo.
    for (const { id: image_id, side } of verdict.attach) {
      const images = [{ image_id, orientation: side as "front" }];
      const before = this.kept.length;
      const isThere = await this.#write(
        ({ attach }) => attach.some(({ id }) => id === image_id),
        (options) => products.attach({ product_id, body: { images } }, options),
      );
      if (isThere) summary.attached++;
      else if (this.kept.length === before) this.kept.push(`the service no longer has its photo ${image_id}`);
    }
    // The replacement of a photo that does not come back stays.
    if (this.kept.length > verdict.kept.length) return;
    for (const image_id of verdict.photos) {
      const isDetached = await this.#write(
        ({ photos }) => photos.includes(image_id),
        (options) => products.detach({ product_id, image_id }, options),
      );
      if (isDetached) summary.detached++;
    }
  }

  async #write(
    isStill: (now: Verdict) => boolean,
    send: (options: CallKeys) => Promise<unknown>,
  ): Promise<boolean> {
    const { change, only, isPlan, begin, target } = this.#product;
    const { clock, state, account } = this.#run;
    if (isPlan) return true;
    let isThere = true;
    const idempotencyKey = this.#run.newKey();
    const withheld = await sendFresh<{ why: string }>(
      {
        lookedAt: this.#lookedAt,
        look: async () => {
          const now = judge(change, await productById(change.productId, this.#run), only);
          this.#lookedAt = clock.now();
          return isStill(now) ? null : { why: "it changed while the undo waited" };
        },
        async send({ signal, onDoubt }) {
          const call = { signal, onDoubt, idempotencyKey };
          isThere = (await orNull(send(call).then(() => true))) === true;
        },
      },
      { begin, clock },
    );
    // An attempt without a response has probably done it.
    const isDone = withheld === null ? isThere : withheld.again;
    if (withheld !== null && !isDone && !this.kept.includes(withheld.reason.why))
      this.kept.push(withheld.reason.why);
    // If a later write fails, the rows of the product must not count as carried out.
    if (isDone) state.changes.undone(account, target, change.productId, false, {});
    return isDone;
  }
}

/** The ledger after that; what the rows said is forgotten, so they are compared again. */
function ledgerAfter(
  { change, verdict, kept }: Pick<ProductToUndo, "change" | "verdict"> & { kept: readonly string[] },
  { state, account }: Run,
): LedgerFacts {
  if (change.action === "created") return { isGone: kept.length === 0 };
  const known = state.ledger.ofProduct(account, change.productId);
  if (known === null) return {};
  return { fields: FieldDigests.of(verdict.fields).over(new FieldDigests(known.fields)).bytes };
}
