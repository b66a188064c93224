// Serves pages of an export and of products from memory, with so many products of so many images each: as little work as a service can
// have with them.
import { createServer } from "node:http";

const [products, images] = process.argv.slice(2).map(Number);
const perPage = 100;
const pages = Math.ceil(products / perPage);

const idOf = (kind, number) => `01ARZ3NDEKTSV4${kind}${String(number).padStart(10, "0")}`;

const assetOf = (number) => ({
  id: idOf("AA", number),
  role: "tryon",
  url: `https://storage.example.com/assets/${idOf("AA", number)}.jpg?expires=1795388685997&signature=${"a1b2c3d4".repeat(8)}`,
  url_expires_at: "2026-01-05T10:00:00.000Z",
  mime_type: "image/jpeg",
  width: 1200,
  height: 1600,
  ai_generated: true,
  watermarked: false,
  derived: false,
  created_at: "2026-01-05T09:00:00.000Z",
  task_id: idOf("TT", number),
  attributes: { angle_shot: "full-front", background: "studio", model_id: "mia" },
  also_features: [],
  suggested_filename: `DRESS-${number}_tryon_full-front.jpg`,
});

const rowOf = (number) => ({
  product: {
    id: idOf("PP", number),
    reference: `DRESS-${number}`,
    name: `Robe en lin à manches longues ${number}`,
    sex: "female",
    deleted_at: null,
  },
  assets: Array.from({ length: images }, (_, at) => assetOf(number * images + at)),
});

const productOf = (number) => ({
  id: idOf("PP", number),
  name: `Robe en lin à manches longues ${number}`,
  reference: `DRESS-${number}`,
  description: "A light dress, for summer days",
  sex: "female",
  images: Array.from({ length: images }, (_, at) => ({
    id: idOf("AA", number * images + at),
    orientation: "front",
    origin: "upload",
  })),
  created_at: "2026-01-05T09:00:00.000Z",
  updated_at: "2026-01-05T09:00:00.000Z",
});

/** A page, and what changes from page to page put in between: the same bytes would be served from a cache. */
const bodiesOf = (entryOf) =>
  Array.from({ length: Math.min(pages, 50) }, (_, page) =>
    Array.from({ length: perPage }, (_, at) => entryOf((pages - page) * perPage - at)),
  ).map((rows) => JSON.stringify(rows));
const lists = { "/v1/exports": bodiesOf(rowOf), "/v1/products": bodiesOf(productOf) };

/** A page; one whose text was used before gets other IDs, because a list that repeats entries is faulty. */
const textOf = (bodies, page) => {
  const times = Math.floor(page / bodies.length);
  const text = bodies[page % bodies.length];
  return times === 0 ? text : text.replaceAll("NDEKTSV4", `NDEK${String(times).padStart(4, "0")}`);
};

const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url, "http://127.0.0.1");
  const page = Number(searchParams.get("cursor") ?? 0);
  const has_more = page + 1 < pages;
  const envelope = JSON.stringify({ next_cursor: has_more ? String(page + 1) : null, has_more });
  const bodies = lists[pathname];
  const body = Buffer.from(
    bodies === undefined ? "{}" : `{"data":${textOf(bodies, page)},${envelope.slice(1)}`,
  );
  response.writeHead(200, { "content-type": "application/json", "content-length": body.length }).end(body);
});
server.listen(0, "127.0.0.1", () => {
  console.log(JSON.stringify({ base_url: `http://127.0.0.1:${server.address().port}` }));
});
