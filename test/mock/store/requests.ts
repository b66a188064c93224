import { tinyPng } from "../world.ts";
import { anyText, Id, type ModelRow, type Reply, refused, type StoreModel } from "./model.ts";
import type { Step } from "./steps.ts";

/** A request and the response of the model. */
export interface Request {
  readonly method: string;
  readonly path: string;
  readonly content?: string | Uint8Array;
  readonly headers?: Record<string, string>;
  readonly expected: Reply;
}

/** The response for an unknown product. */
export const notThere = refused(404, "not_found", "product_not_found");

/** An unused ID. */
const nobody = "01HN1H1W2BE2ZP0BXGX60T7K32";

/** The request of a step with the current names of the store, and the response of the model. */
export function requestOf(
  step: Step,
  stores: readonly [StoreModel, StoreModel],
  mine: 0 | 1,
): Request | undefined {
  const store = stores[mine];
  const other = stores[mine === 0 ? 1 : 0];
  const pick = <Item>(from: readonly Item[], index: number): Item | undefined =>
    from[index % Math.max(1, from.length)];
  const image = ({ whose, index }: { whose: string; index: number }): Id | string =>
    pick((whose === "own" ? store : whose === "other" ? other : { images: [] }).images, index)?.id ?? nobody;
  const target = ({ whose, index }: { whose: string; index: number }) => {
    const product = whose === "own" ? pick(store.products, index) : undefined;
    const stranger =
      whose === "gone"
        ? pick(store.gone, index)
        : whose === "other"
          ? pick(other.products, index)?.id
          : undefined;
    return { product, path: `/v1/products/${(product?.id ?? stranger)?.value ?? nobody}` };
  };
  const wire = (id: Id | string): string => (id instanceof Id ? id.value! : id);
  const links = (picks: readonly { whose: string; index: number; orientation: string }[]) =>
    picks.map((one) => ({ image: image(one), orientation: one.orientation }));
  const sent = (list: readonly { image: Id | string; orientation: string }[]) =>
    list.map(({ image, orientation }) => ({ image_id: wire(image), orientation }));

  if ("upload" in step) {
    const content = step.upload ? form(tinyPng) : form(new Uint8Array([1, 2, 3]));
    const headers = { "content-type": "multipart/form-data; boundary=edge" };
    const bad = refused(415, "invalid_request", "unsupported_media_type", "file");
    return {
      method: "POST",
      path: "/v1/images",
      content,
      headers,
      expected: step.upload ? store.upload() : bad,
    };
  }
  if ("create" in step) {
    const images = links(step.images);
    const content = { ...step.create, images: sent(images), ...step.flaw?.fields };
    const expected =
      step.flaw === null
        ? store.create(step.create, images)
        : refused(400, "invalid_request", "invalid_request", step.flaw.param);
    return {
      method: "POST",
      path: "/v1/products",
      content: JSON.stringify(content),
      headers: json,
      expected,
    };
  }
  if ("patch" in step) {
    const { product, path } = target(step);
    const headers = { "content-type": "application/merge-patch+json" };
    return {
      method: "PATCH",
      path,
      content: JSON.stringify(step.patch),
      headers,
      expected: store.patch(product, step.patch),
    };
  }
  if ("delete" in step) {
    const { product, path } = target(step);
    return { method: "DELETE", path, expected: store.delete(product) };
  }
  if ("attach" in step) {
    const { product, path } = target(step);
    const images = links(step.attach);
    const content = JSON.stringify({ images: sent(images) });
    return {
      method: "POST",
      path: `${path}/images`,
      content,
      headers: json,
      expected: store.attach(product, images),
    };
  }
  if ("detach" in step) {
    const { product, path } = target(step);
    const id =
      (step.detach.whose === "on it" ? pick(product?.images ?? [], step.detach.index)?.id : undefined) ??
      image(step.detach);
    return { method: "DELETE", path: `${path}/images/${wire(id)}`, expected: store.detach(product, id) };
  }
  if ("get" in step) {
    const { product, path } = target({ whose: step.get, index: step.index });
    return {
      method: "GET",
      path,
      expected: product === undefined ? notThere : { status: 200, body: product },
    };
  }
  if ("rows" in step) return importOf(step, store, image, wire);
  return undefined;
}

const json = { "content-type": "application/json" };

function importOf(
  step: Extract<Step, { rows: unknown }>,
  store: StoreModel,
  image: (pick: { whose: string; index: number }) => Id | string,
  wire: (id: Id | string) => string,
): Request {
  const rows: ModelRow[] = step.rows.map((row) => ({
    ...row,
    images: row.images.map(({ url, orientation, ...pick }) => ({
      ...(url === null ? { image: image(pick) } : { url }),
      ...(orientation !== null && { orientation }),
    })),
  }));
  const sent: unknown[] = rows.map((row) => ({
    ...row,
    images: row.images.map(({ image, ...rest }) => ({
      ...rest,
      ...(image !== undefined && { image_id: wire(image) }),
    })),
  }));
  const errors: unknown[] = [];
  const { flaws } = step;
  for (const flaw of flaws) {
    const line = sent.length + 1;
    sent.push(flaw.row === "twin" ? sent[0] : flaw.row);
    errors.push({ line, code: flaw.code, message: anyText, param: flaw.param });
  }
  const { mode, onImageError } = step;
  const path = step.ndjson ? `/v1/imports?mode=${mode}&on_image_error=${onImageError}` : "/v1/imports";
  const content = step.ndjson
    ? sent.map((row) => JSON.stringify(row)).join("\n")
    : JSON.stringify({ mode, on_image_error: onImageError, rows: sent });
  const expected =
    flaws.length > 0 ? { status: 400, body: { errors } } : store.submit(mode, onImageError, rows);
  const headers = step.ndjson ? { "content-type": "application/x-ndjson" } : json;
  return { method: "POST", path, content, headers, expected };
}

/** A form with one file. The bytes are the same each time, so that it can be sent again. */
const form = (file: Uint8Array): Uint8Array =>
  Buffer.concat([
    Buffer.from('--edge\r\nContent-Disposition: form-data; name="file"; filename="photo.png"\r\n\r\n'),
    file,
    Buffer.from("\r\n--edge--\r\n"),
  ]);
