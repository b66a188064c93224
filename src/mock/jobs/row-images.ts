import pLimit from "p-limit";
import { detectImageType } from "../../contract/image-file.ts";
import { limits } from "../../contract/limits.ts";
import type { ImportRowResult } from "../../contract/resources/imports.ts";
import { isPublicAddress, urlBreach } from "../../contract/url-policy.ts";
import type { imageErrorCodes, Orientation } from "../../contract/value-sets.ts";
import { drawnSize } from "../../mock-page/drawing/garments.ts";
import { productWords } from "../../mock-page/drawing/product-words.ts";
import { requestedFailureAtStart } from "../faults/faults.ts";
import { imageDimensions } from "../images/upload.ts";
import type { Network } from "../outgoing/network.ts";
import { type NoResponse, type RequestOutcome, sendOutgoing } from "../outgoing/outgoing-request.ts";
import type { Ids } from "../seed/seed.ts";
import type { Organization } from "../store/organization.ts";
import type { AcceptedRow, ImageRecord, ImportJob, ProductRecord, RowImage } from "../store/records.ts";
import type { World } from "../world/world.ts";

/** The fetched images of a row, in order; null for an image that need not be fetched. */
export type RowImages = readonly (Fetched | null)[];

type Content = Pick<ImageRecord, "mime_type" | "width" | "height" | "bytes" | "seed">;

/** An image for a row: an uploaded one, or the content of its URL. */
export type Found = { readonly uploaded: ImageRecord } | { readonly content: Content };

/** Whether the images of a row matter, or its mode and reference decide alone (Imports, rule 3). */
const needsImages = (
  organization: Organization,
  { mode }: Pick<ImportJob, "mode">,
  { reference }: AcceptedRow,
): boolean => mode === "upsert" || organization.products.withReference(reference) === undefined;

/** Finds one image of a row, before anything is created. */
export function seekImage(
  { organization, images }: { organization: Organization; images: RowImages | null },
  image: RowImage,
  index: number,
): Found | { readonly problem: Problem } {
  if (image.image_id !== undefined) {
    const uploaded = organization.images.get(image.image_id);
    if (uploaded !== undefined) return { uploaded };
    return { problem: { code: "image_not_found", message: "image not found" } };
  }
  const url = image.url!;
  const code = urlFailure(url);
  if (code !== null) return fetchProblem(code);
  const fetched = images?.[index] ?? null;
  if (fetched === null) return { content: pictureFor(url) };
  return "problem" in fetched ? fetched : { content: { ...fetched, seed: "" } };
}

/** The code of a URL whose last segment starts with `fail-CODE`; the set can grow (ImportRowResult). */
function urlFailure(url: string): string | null {
  const path = url.replace(/[?#].*$/s, "");
  return requestedFailureAtStart(path.slice(path.lastIndexOf("/") + 1));
}

/** The image record of the organization. The content of a URL is stored as a new image. */
export function keepImage(
  { organization, ids }: { organization: Organization; ids: Ids },
  lookup: Found,
  { now, product, orientation }: { now: string; product: ProductRecord; orientation: Orientation },
): ImageRecord {
  if ("uploaded" in lookup) return lookup.uploaded;
  const { mime_type, width, height, bytes, seed } = lookup.content;
  const id = ids.next();
  const record: ImageRecord = {
    id,
    mime_type,
    created_at: now,
    width,
    height,
    bytes,
    subject: bytes === null ? orientation : "",
    seed,
    ...(bytes === null && { words: productWords(product.name, product.reference ?? product.id) }),
    generation: null,
  };
  organization.images.set(id, record);
  return record;
}

/** A generated picture instead of the content of a URL; the same URL gives the same picture. */
function pictureFor(url: string): Content {
  const extension = /\.(png|webp)(?:[?#]|$)/i.exec(url)?.[1]?.toLowerCase();
  const mime_type = extension === "png" ? "image/png" : extension === "webp" ? "image/webp" : "image/jpeg";
  return { mime_type, width: drawnSize.width, height: drawnSize.height, bytes: null, seed: url };
}

/** Maximum number of concurrent fetches per import. */
const atOnce = 16;
/** Maximum number of images fetched or in flight for later rows. */
const mostAhead = 32;

/** Fetches the images of an import slightly ahead of its rows, which are processed in order. */
export class RowFetcher {
  readonly #world: World;
  readonly #organization: Organization;
  readonly #job: ImportJob;
  readonly #life: AbortSignal;
  readonly #limit = pLimit(atOnce);
  readonly #begun = new Map<number, Promise<RowImages | null>>();
  #next = 0;
  #ahead = 0;

  constructor(world: World, organization: Organization, job: ImportJob) {
    this.#world = world;
    this.#organization = organization;
    this.#job = job;
    this.#life = world.life;
  }

  async imagesFor(index: number): Promise<RowImages | null> {
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
    const { network } = this.#world;
    const isFetched = (url: string | undefined) => url !== undefined && urlFailure(url) === null;
    return Promise.all(
      row.images.map(({ url }) =>
        isFetched(url) ? this.#limit(() => fetchImage(network, url!, this.#life)) : null,
      ),
    );
  }
}

export type Fetched =
  | (Pick<ImageRecord, "mime_type" | "width" | "height"> & { readonly bytes: Buffer })
  | { readonly problem: Problem };

/** Why an image was not attached (ImportRowResult, images). */
export type Problem = NonNullable<ImportRowResult["error"]>;

type Code = (typeof imageErrorCodes)[number];

/** Timeout per image. The specification has no number, so the timeout of webhook deliveries is used. */
const timeoutMs = 10_000;

const codes: Record<NoResponse, Code> = {
  dns_failed: "dns_failed",
  blocked_host: "blocked_host",
  timeout: "timeout",
  unreachable: "http_error",
  connection_lost: "http_error",
  ended: "http_error",
};

/** Fetches an image; applies the URL policy and checks the bytes (Imports, "An image url must be"). */
async function fetchImage(network: Network, url: string, life: AbortSignal): Promise<Fetched> {
  // Checked when the import was accepted, but not if the job came from a state file.
  if (urlBreach(url) !== null) return fetchProblem("blocked_host");
  const outcome = await sendOutgoing(
    network,
    {
      method: "GET",
      url,
      headers: () => ({
        Accept: "image/jpeg, image/png, image/webp",
        "Accept-Encoding": "identity",
        "User-Agent": "catalogue-images/1",
      }),
      isAllowed: isPublicAddress,
      timeoutMs,
      mostBytes: limits.imageBytes,
    },
    life,
  );
  return toImage(outcome);
}

function toImage(outcome: RequestOutcome): Fetched {
  if ("fault" in outcome) return fetchProblem(codes[outcome.fault]);
  const { status, bytes, end } = outcome;
  // Redirects are not followed, because the specification does not mention them.
  if (status < 200 || status > 299)
    return fetchProblem("http_error", `the server responded with status ${status}`);
  if (end === "too_long") return fetchProblem("too_large", `larger than ${limits.imageBytes} bytes`);
  if (end === "broken") return fetchProblem("http_error", "the response ended early");
  const mime_type = detectImageType(bytes);
  const size = mime_type === null ? null : imageDimensions(bytes);
  if (mime_type === null || size === null) return fetchProblem("not_an_image");
  return { mime_type, ...size, bytes };
}

/** The problem of a failed fetch; by default the message is the code in words. */
const fetchProblem = (code: string, why = code.replaceAll("_", " ")): { problem: Problem } => ({
  problem: { code, message: `the image could not be fetched: ${why}` },
});
