import { createHash } from "node:crypto";
import { type ProductDetail, type ProductPage, type View, views } from "../../mock-page/data.ts";
import { pageText } from "../../mock-page/page-text.ts";
import type { Pictures } from "../images/pictures.ts";
import type { Exchange } from "../requests/exchange.ts";
import { products } from "../routes/products.ts";
import { organizationNames } from "../rules/api-keys.ts";
import { parseJsonBody } from "../rules/body.ts";
import { check } from "../rules/checks.ts";
import { RateUsed } from "../rules/rate-limit.ts";
import { invalid, Rejection } from "../rules/rejection.ts";
import type { Organization } from "../store/organization.ts";
import type { World } from "../world/world.ts";
import { Streams } from "./streams.ts";
import { toDetail } from "./views.ts";

type Query = Readonly<Record<string, unknown>>;
type Respond = (exchange: Exchange) => void;

const productsPerPage = 48;

/** Headers of everything that a browser may show: no other page can embed it, and no type is guessed. */
const closed = {
  "X-Content-Type-Options": "nosniff",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
};

const icon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="4" fill="#3a53c5"/>' +
  '<path d="M4 11.5V6l2.5 3L9 6v5.5M11.8 6v5.5" fill="none" stroke="#fff" stroke-width="1.5"/></svg>';

export class PageServer {
  readonly #world: World;
  readonly #pictures: Pictures;
  readonly streams: Streams;

  constructor(world: World, pictures: Pictures) {
    this.#world = world;
    this.#pictures = pictures;
    this.streams = new Streams(world);
  }

  /** The page. From now on, the bodies of requests are kept for it. */
  async page(): Promise<Respond> {
    this.#world.log.keepsBodies = true;
    const { html, style, script } = await pageText();
    const policy = [
      "default-src 'none'",
      "img-src 'self'",
      "connect-src 'self'",
      `style-src '${toHash(style)}'`,
      `script-src '${toHash(script)}'`,
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ].join("; ");
    const bytes = Buffer.from(html);
    const headers = {
      ...closed,
      "Content-Type": "text/html; charset=utf-8",
      "Content-Length": bytes.length,
      "Cache-Control": "no-store",
      "Content-Security-Policy": policy,
      "Cross-Origin-Opener-Policy": "same-origin",
    };
    return (exchange) => exchange.sendBytes(200, headers, bytes);
  }

  /** Without an icon, a browser would ask for one, and the log would show that. */
  icon(): Respond {
    const bytes = Buffer.from(icon);
    const headers = { ...closed, "Content-Type": "image/svg+xml", "Content-Length": bytes.length };
    return (exchange) => exchange.sendBytes(200, headers, bytes);
  }

  /** The stream of one tab. `last_event_id` is for a hidden tab; a browser sends the header itself. */
  events({ view, last_event_id }: Query): Respond {
    if (!views.includes(view as View)) throw invalid(`view must be one of ${views.join(", ")}`, "view");
    this.#world.log.keepsBodies = true;
    return ({ request, response }) => {
      const last = request.headers["last-event-id"] ?? last_event_id;
      this.streams.open(response, view as View, typeof last === "string" ? last : undefined);
    };
  }

  request(number: string): unknown {
    const detail = toDetail(this.#world, Number(number));
    if (detail === null) throw new Rejection("route_not_found", "the log no longer has this request");
    return detail;
  }

  products({ organization = "main", q = "", cursor }: Query): ProductPage {
    if (typeof q !== "string" || (cursor !== undefined && typeof cursor !== "string"))
      throw invalid("q and cursor can be given once");
    const { body } = products.list({
      world: this.#world,
      organization: this.#organization(organization),
      params: {},
      query: { limit: productsPerPage, q, cursor },
      body: null,
      headers: {},
    });
    const { data, next_cursor } = body!;
    return {
      data: data.map(({ id, reference, name, sex, images }) => ({ id, reference, name, sex, images })),
      next_cursor,
    };
  }

  product(id: string): ProductDetail {
    for (const { products, images } of Object.values(this.#world.organizations)) {
      const product = products.get(id);
      if (product === undefined) continue;
      const { reference, name, sex, description, created_at, updated_at } = product;
      const generations = product.generations.flatMap((image) => {
        const made = images.get(image)?.generation;
        if (made == null) return [];
        const { role, angle_shot, background } = made;
        return [{ id: image, role, angle_shot, background }];
      });
      const photos = product.images.map((image) => ({ ...image }));
      return { id, reference, name, sex, description, created_at, updated_at, images: photos, generations };
    }
    throw new Rejection("product_not_found", "product not found");
  }

  async picture(id: string): Promise<Respond> {
    const { life } = this.#world;
    for (const { images } of Object.values(this.#world.organizations)) {
      const image = images.get(id);
      if (image === undefined) continue;
      const bytes = await this.#pictures.toBytes(image, life);
      const headers = {
        ...closed,
        "Content-Type": image.mime_type,
        "Content-Length": bytes.length,
        // An image never changes, but after a reset another one may have its ID.
        "Cache-Control": "private, max-age=60",
      };
      return (exchange) => exchange.sendBytes(200, headers, bytes);
    }
    throw new Rejection("image_not_found", "image not found");
  }

  /** Sets how many requests of the current minute count as used. */
  setRate(name: string, body: Buffer): unknown {
    const { rate } = this.#organization(name);
    const { reads, writes } = check(RateUsed, parseJsonBody(body), "body");
    rate.read(this.#world.options.rateLimit, true, this.#world.clock.now());
    if (reads !== undefined) rate.reads = reads;
    if (writes !== undefined) rate.writes = writes;
    return { reads: rate.reads, writes: rate.writes };
  }

  #organization(name: unknown): Organization {
    const known = organizationNames.find((candidate) => candidate === name);
    if (known === undefined) throw new Rejection("route_not_found", "organization not found");
    return this.#world.organizations[known];
  }
}

const toHash = (text: string): string => `sha256-${createHash("sha256").update(text).digest("base64")}`;
