import type { Pictures } from "../images/pictures.ts";
import type { Exchange } from "../requests/exchange.ts";
import type { World } from "../world/world.ts";
import type { PageServer } from "./page-server.ts";

type Params = Readonly<Record<string, string>>;
type Query = Readonly<Record<string, unknown>>;

/** A route of the page. `work` returns a value for a response as JSON, or a function that responds. */
export interface PageRoute {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly work: (
    world: World,
    body: Buffer,
    params: Params,
    query: Query,
  ) => Promise<unknown | ((exchange: Exchange) => void)>;
}

/** The page at `/_mock`, its stream, and what it reads. Nothing of it is loaded before the first request for it. */
export function pageRoutes(pictures: Pictures): PageRoute[] {
  let server: Promise<PageServer> | undefined;
  const on = (
    method: PageRoute["method"],
    path: string,
    serve: (server: PageServer, params: Params, query: Query, body: Buffer) => unknown,
  ): PageRoute => ({
    method,
    path,
    work: async (world, body, params, query) => {
      server ??= import("./page-server.ts").then(({ PageServer }) => new PageServer(world, pictures));
      return serve(await server, params, query, body);
    },
  });
  return [
    on("GET", "/_mock", (server) => server.page()),
    on("GET", "/_mock/icon.svg", (server) => server.icon()),
    on("GET", "/_mock/events", (server, _params, query) => server.events(query)),
    on("GET", "/_mock/page/requests/{number}", (server, { number }) => server.request(number!)),
    on("GET", "/_mock/page/products", (server, _params, query) => server.products(query)),
    on("GET", "/_mock/page/products/{id}", (server, { id }) => server.product(id!)),
    on("GET", "/_mock/pictures/{id}", (server, { id }) => server.picture(id!)),
    on("POST", "/_mock/page/rate/{organization}", (server, { organization }, _query, body) =>
      server.setRate(organization!, body),
    ),
  ];
}
