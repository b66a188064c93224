/**
 * A model of the store: a second, minimal implementation of the specification with linear searches. The
 * property test compares the mock with it. It shares no code with src.
 */

/** An ID assigned by the service; its value is known after the first response that has it. */
export class Id {
  value: string | null = null;
}
/** Matches any non-empty text, e.g. a message. */
export const anyText = Symbol("any text");
/** Matches any signed URL. */
export const anySignedUrl = Symbol("any signed URL");

export interface Reply {
  readonly status: number;
  readonly body: unknown;
  readonly retryAfter?: string;
}
export interface Link {
  readonly image: Id | string;
  readonly orientation: string;
}
export interface Fields {
  readonly name?: string;
  readonly reference?: string;
  readonly description?: string | null;
  readonly sex?: string | null;
}
export interface ModelProduct {
  readonly id: Id;
  name: string;
  reference: string;
  description: string | null;
  sex: string | null;
  images: { id: Id; orientation: string; origin: "user" }[];
  readonly created_at: string;
  updated_at: string;
}
export interface ModelRow extends Fields {
  readonly name: string;
  readonly reference: string;
  readonly images: readonly {
    readonly url?: string;
    readonly image?: Id | string;
    readonly orientation?: string;
  }[];
}
interface ModelJob {
  readonly id: Id;
  readonly mode: string;
  readonly onImageError: string;
  readonly rows: readonly ModelRow[];
  readonly results: unknown[];
  readonly createdAt: number;
  startedAt: number | null;
  finishedAt: number | null;
  done: number;
  readonly counts: { succeeded: number; partial: number; failed: number };
  due: number;
  turn: number;
}

/** Timing of the mock: one second of validation, then five rows every 50 ms. */
const pace = { validatingMs: 1_000, rowsAStep: 5, stepMs: 50, rowMs: 10 };

const time = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());

export const refused = (status: number, type: string, code: string, param?: string): Reply => ({
  status,
  body: { error: { type, code, message: anyText, ...(param !== undefined && { param }) } },
});
const noProduct = refused(404, "not_found", "product_not_found");
const taken = refused(409, "conflict", "reference_already_exists", "reference");

/** Products, images and imports of one organization. */
export class StoreModel {
  now: number;
  products: ModelProduct[] = [];
  readonly gone: Id[] = [];
  readonly images: { id: Id; created_at: string; mime_type: string }[] = [];
  readonly jobs: ModelJob[] = [];
  #turns = 0;

  constructor(now: number) {
    this.now = now;
  }

  upload(): Reply {
    const image = { id: new Id(), created_at: time(this.now)!, mime_type: "image/png" };
    this.images.push(image);
    return { status: 201, body: { id: image.id, mime_type: image.mime_type, created_at: image.created_at } };
  }

  create(fields: Fields, links: readonly Link[]): Reply {
    const missing = this.missingImage(links);
    if (missing >= 0) return refused(404, "not_found", "image_not_found", `images[${missing}].image_id`);
    const reference = fields.reference!.trim();
    if (this.holderOf(reference) !== undefined) return taken;
    const product = this.make({ ...fields, name: fields.name!, reference });
    this.attachTo(product, links);
    return { status: 201, body: product };
  }

  patch(product: ModelProduct | undefined, change: Fields): Reply {
    if (product === undefined) return noProduct;
    const reference = change.reference?.trim() ?? product.reference;
    const holder = this.holderOf(reference);
    if (holder !== undefined && holder !== product) return taken;
    this.changeTo(product, { ...change, reference });
    return { status: 200, body: product };
  }

  delete(product: ModelProduct | undefined): Reply {
    if (product === undefined) return noProduct;
    this.products = this.products.filter((one) => one !== product);
    this.gone.push(product.id);
    return { status: 204, body: "" };
  }

  attach(product: ModelProduct | undefined, links: readonly Link[]): Reply {
    if (product === undefined) return noProduct;
    const missing = this.missingImage(links);
    if (missing >= 0) return refused(404, "not_found", "image_not_found", `images[${missing}].image_id`);
    return { status: 201, body: this.attachTo(product, links) };
  }

  detach(product: ModelProduct | undefined, image: Id | string): Reply {
    if (product === undefined) return noProduct;
    if (!product.images.some(({ id }) => id === image)) return refused(404, "not_found", "image_not_found");
    if (product.images.length === 1) return refused(422, "invalid_request", "cannot_drop_last_image");
    product.images = product.images.filter(({ id }) => id !== image);
    return { status: 204, body: "" };
  }

  /** All listed products, newest first. */
  list(q: string): ModelProduct[] {
    const words = q.toLowerCase().split(/\s+/);
    const has = (product: ModelProduct, word: string) =>
      product.name.toLowerCase().includes(word) || product.reference.toLowerCase().includes(word);
    return this.products.filter((product) => words.every((word) => has(product, word))).reverse();
  }

  submit(mode: string, onImageError: string, rows: readonly ModelRow[]): Reply {
    const job: ModelJob = {
      id: new Id(),
      mode,
      onImageError,
      rows,
      results: rows.map((row, index) => ({
        line: index + 1,
        reference: row.reference.trim(),
        status: "pending",
        action: null,
        product_id: null,
        images: [],
        error: null,
      })),
      createdAt: this.now,
      startedAt: null,
      finishedAt: null,
      done: 0,
      counts: { succeeded: 0, partial: 0, failed: 0 },
      due: this.now + pace.validatingMs,
      turn: this.#turns++,
    };
    this.jobs.push(job);
    return { ...this.shown(job), status: 202 };
  }

  shown(job: ModelJob): Reply {
    const { id, mode, onImageError, counts, done, rows } = job;
    const isDone = job.finishedAt !== null;
    const isValidating = job.startedAt === null;
    const finalStatus = counts.partial + counts.failed > 0 ? "completed_with_errors" : "completed";
    const body = {
      id,
      status: isValidating ? "validating" : isDone ? finalStatus : "processing",
      mode,
      on_image_error: onImageError,
      counts: isValidating
        ? { total: null, pending: 0, ...counts }
        : { total: rows.length, pending: rows.length - done, ...counts },
      results_url: isDone ? anySignedUrl : null,
      created_at: time(job.createdAt),
      started_at: time(job.startedAt),
      finished_at: time(job.finishedAt),
    };
    return { status: 200, body, ...(!isDone && { retryAfter: "5" }) };
  }

  /** Advances the time and runs the steps of the jobs that are due. */
  advance(ms: number): void {
    const until = this.now + ms;
    for (;;) {
      const [next] = this.jobs
        .filter(({ finishedAt }) => finishedAt === null)
        .sort((one, other) => one.due - other.due || one.turn - other.turn);
      if (next === undefined || next.due > until) break;
      this.now = next.due;
      this.#step(next);
    }
    this.now = until;
  }

  #step(job: ModelJob): void {
    const end = Math.min(job.rows.length, job.done + pace.rowsAStep);
    if (job.startedAt === null) {
      job.startedAt = this.now;
    } else {
      for (; job.done < end; job.done++) {
        const result = this.settle(job, job.rows[job.done]!, job.done + 1);
        job.results[job.done] = result;
        job.counts[result.status]++;
      }
      if (job.done === job.rows.length) job.finishedAt = this.now;
    }
    const then = Math.min(job.rows.length, job.done + pace.rowsAStep);
    job.due = job.createdAt + pace.validatingMs + then * pace.rowMs;
    job.turn = this.#turns++;
  }

  protected settle(job: Pick<ModelJob, "mode" | "onImageError">, row: ModelRow, line: number) {
    const reference = row.reference.trim();
    const existing = this.holderOf(reference);
    const images = row.images.map(({ url, image, orientation = "unlabeled" }, index) => {
      const found = url === undefined ? this.images.find(({ id }) => id === image) : undefined;
      const code = url === undefined ? (found ? null : "image_not_found") : failureIn(url);
      return { of: { index, source: url ?? image, orientation }, found: found?.id, code };
    });
    const failures = images.filter(({ code }) => code !== null).length;
    const fail = (code: string, withCodes: boolean) => ({
      line,
      reference,
      status: "failed" as const,
      action: "none",
      product_id: null,
      images: images.map((image) => ({
        ...image.of,
        status: "failed",
        error: { code: (withCodes ? image.code : null) ?? "row_failed", message: anyText },
      })),
      error: { code, message: anyText },
    });
    if (existing !== undefined && job.mode === "skip_existing") {
      const product_id = existing.id;
      return {
        line,
        reference,
        status: "succeeded" as const,
        action: "skipped",
        product_id,
        images: [],
        error: null,
      };
    }
    if (existing !== undefined && job.mode === "create") return fail("reference_already_exists", false);
    if (failures === images.length || (failures > 0 && job.onImageError === "fail_row")) {
      return fail("image_failed", true);
    }
    const product = existing ?? this.make({ ...row, reference });
    if (existing !== undefined) this.changeTo(existing, { ...row, reference });
    const attached = images.map(({ of, found, code }) => {
      if (code !== null) return { ...of, status: "failed", error: { code, message: anyText } };
      const id = found ?? this.#fetch(of.source as string);
      this.attachTo(product, [{ image: id, orientation: of.orientation }]);
      return { ...of, status: "attached", image_id: id };
    });
    return {
      line,
      reference,
      status: failures > 0 ? ("partial" as const) : ("succeeded" as const),
      action: existing === undefined ? "created" : "updated",
      product_id: product.id,
      images: attached,
      error: null,
    };
  }

  #fetch(url: string): Id {
    const extension = url.slice(url.lastIndexOf(".") + 1);
    const mime_type = extension === "png" || extension === "webp" ? `image/${extension}` : "image/jpeg";
    const image = { id: new Id(), created_at: time(this.now)!, mime_type };
    this.images.push(image);
    return image.id;
  }

  protected holderOf(reference: string): ModelProduct | undefined {
    return this.products.find((product) => product.reference === reference);
  }

  protected missingImage(links: readonly Link[]): number {
    return links.findIndex(({ image }) => !this.images.some(({ id }) => id === image));
  }

  protected make({ name, reference, description = null, sex = null }: Fields): ModelProduct {
    const now = time(this.now)!;
    const product: ModelProduct = {
      id: new Id(),
      name: name!,
      reference: reference!,
      description,
      sex,
      images: [],
      created_at: now,
      updated_at: now,
    };
    this.products.push(product);
    return product;
  }

  protected changeTo(product: ModelProduct, change: Fields): void {
    const before = JSON.stringify(product);
    for (const field of ["name", "reference", "description", "sex"] as const) {
      if (change[field] !== undefined) Object.assign(product, { [field]: change[field] });
    }
    if (JSON.stringify(product) !== before) product.updated_at = time(this.now)!;
  }

  protected attachTo(product: ModelProduct, links: readonly Link[]): ModelProduct["images"] {
    const named = links.map(({ image, orientation }) => {
      let link = product.images.find(({ id }) => id === image);
      if (link === undefined) {
        link = { id: image as Id, orientation, origin: "user" };
        product.images.push(link);
      }
      link.orientation = orientation;
      return link;
    });
    return [...new Set(named)];
  }
}

const failureIn = (url: string): string | null => /\/fail-([a-z_]+)[^/]*$/.exec(url)?.[1] ?? null;
