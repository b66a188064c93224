import type * as z from "zod";
import { views } from "../../mock-page/data.ts";
import type { Pictures } from "../images/pictures.ts";
import type { Exchange } from "../requests/exchange.ts";
import { RateUsed } from "../rules/rate-limit.ts";
import type { World } from "../world/world.ts";
import type { PageServer } from "./page-server.ts";

type Params = Readonly<Record<string, string>>;
type Query = Readonly<Record<string, unknown>>;

/** A route of the page, with its description for `/_mock/openapi.json`. */
interface PageRoute {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly summary: string;
  /** The type of the response; default: JSON. */
  readonly type?: string;
  readonly query?: Readonly<Record<string, { schema: object; required?: boolean }>>;
  readonly body?: z.ZodType;
  /** Returns a value for a response as JSON, or a function that responds. */
  readonly serve: (
    server: PageServer,
    params: Params,
    query: Query,
    body: Buffer,
  ) => unknown | ((exchange: Exchange) => void);
}

const text = { schema: { type: "string" } };

/** The page at `/_mock`, its stream, and what it reads. */
export const pageRoutes: readonly PageRoute[] = [
  {
    method: "GET",
    path: "/_mock",
    summary: "Get the page",
    type: "text/html",
    serve: (server) => server.page(),
  },
  {
    method: "GET",
    path: "/_mock/icon.svg",
    summary: "Get its icon",
    type: "image/svg+xml",
    serve: (server) => server.icon(),
  },
  {
    method: "GET",
    path: "/_mock/events",
    summary: "Follow what a tab shows, as server-sent events",
    type: "text/event-stream",
    query: { view: { schema: { enum: views }, required: true }, last_event_id: text },
    serve: (server, _params, query) => server.events(query),
  },
  {
    method: "GET",
    path: "/_mock/page/requests/{number}",
    summary: "Get a request, and why it got its response",
    serve: (server, { number }) => server.request(number!),
  },
  {
    method: "GET",
    path: "/_mock/page/products",
    summary: "List products for the page",
    query: { organization: text, q: text, cursor: text },
    serve: (server, _params, query) => server.products(query),
  },
  {
    method: "GET",
    path: "/_mock/page/products/{id}",
    summary: "Get a product with all its pictures",
    serve: (server, { id }) => server.product(id!),
  },
  {
    method: "GET",
    path: "/_mock/pictures/{id}",
    summary: "Get the bytes of a picture",
    type: "image/*",
    serve: (server, { id }) => server.picture(id!),
  },
  {
    method: "POST",
    path: "/_mock/page/rate/{organization}",
    body: RateUsed,
    summary: "Set how many requests of this minute count as used",
    serve: (server, { organization }, _query, body) => server.setRate(organization!, body),
  },
];

/** The routes with a server that nothing loads before the first request for it. */
export function servedRoutes(pictures: Pictures) {
  let server: Promise<PageServer> | undefined;
  // The page needs its path without a slash at the end, because its own requests are relative to it.
  const withSlash: PageRoute = {
    method: "GET",
    path: "/_mock/",
    summary: "Get the page",
    serve: () => (exchange: Exchange) => exchange.sendBytes(308, { Location: "../_mock" }, Buffer.of()),
  };
  return [...pageRoutes, withSlash].map(({ method, path, serve }) => ({
    method,
    path,
    work: async (world: World, body: Buffer, params: Params, query: Query) => {
      server ??= import("./page-server.ts").then(({ PageServer }) => new PageServer(world, pictures));
      return serve(await server, params, query, body);
    },
  }));
}
