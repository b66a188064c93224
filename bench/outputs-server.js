// Serves tasks that have succeeded, the export rows of their products, and the images, from memory: as little work as a
// service can have with them.
import { createServer } from "node:http";
import { crc32 } from "node:zlib";

const [count, bytes] = process.argv.slice(2).map(Number);

/** The ID of a task, in order of creation. */
const idOf = (index) => `01ARZ3NDEKTSV4RRFF${String(index).padStart(8, "0")}`;

/** A PNG as far as its chunks show. */
const image = Buffer.concat([
  Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
  chunk("IHDR", Buffer.alloc(13)),
  chunk("IDAT", Buffer.alloc(bytes - 57, "catalogue")),
  chunk("IEND", Buffer.alloc(0)),
]);

function chunk(type, content) {
  const whole = Buffer.concat([Buffer.alloc(4), Buffer.from(type), content, Buffer.alloc(4)]);
  whole.writeUInt32BE(content.length, 0);
  whole.writeUInt32BE(crc32(whole.subarray(4, -4)), whole.length - 4);
  return whole;
}

const headers = {
  "content-type": "image/png",
  "content-length": bytes,
  etag: '"1"',
  "accept-ranges": "bytes",
};

const taskOf = (index) => ({
  id: idOf(index),
  type: "tryon",
  subtype: null,
  status: "succeeded",
  product_id: idOf(0),
  output_image: {
    id: idOf(index),
    url: `${baseUrl()}/images/${index}`,
    url_expires_at: "2100-01-01T00:00:00.000Z",
  },
  failure_reason: null,
  started_at: "2026-01-01T00:00:01.000Z",
  finished_at: "2026-01-01T00:00:09.000Z",
  created_at: "2026-01-01T00:00:00.000Z",
});

/** A product with four images of the same tasks. */
const rowOf = (number) => ({
  product: {
    id: idOf(number),
    reference: `DRESS-${number}`,
    name: `Dress ${number}`,
    sex: null,
    deleted_at: null,
  },
  assets: [0, 1, 2, 3].map((at) => assetOf(number * 4 + at)),
});

const assetOf = (index) => ({
  id: idOf(index),
  role: "tryon",
  url: `${baseUrl()}/images/${index}`,
  url_expires_at: "2100-01-01T00:00:00.000Z",
  mime_type: "image/png",
  width: 600,
  height: 800,
  ai_generated: true,
  watermarked: false,
  derived: false,
  created_at: "2026-01-01T00:00:09.000Z",
  task_id: idOf(index),
  attributes: { angle_shot: "full-front" },
  also_features: [],
  suggested_filename: `image-${index}.png`,
});

/** What a list has: tasks, or products of four images. */
const lists = {
  "/v1/tasks": { total: count, entryOf: taskOf },
  "/v1/exports": { total: count / 4, entryOf: rowOf },
};

const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url, baseUrl());
  if (pathname.startsWith("/images/")) return response.writeHead(200, headers).end(image);
  const list = lists[pathname];
  if (list === undefined) {
    const error = { type: "not_found", code: "route_not_found", message: "only tasks, exports and images" };
    return response.writeHead(404, { "content-type": "application/json" }).end(JSON.stringify({ error }));
  }
  // Newest first, a page of so many.
  const before = Number(searchParams.get("cursor") ?? list.total);
  const limit = Number(searchParams.get("limit") ?? 25);
  const after = Math.max(0, before - limit);
  const data = Array.from({ length: before - after }, (_, at) => list.entryOf(before - 1 - at));
  const page = { object: "list", data, has_more: after > 0, next_cursor: after > 0 ? String(after) : null };
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(page));
});
const baseUrl = () => `http://127.0.0.1:${server.address().port}`;
server.listen(0, "127.0.0.1", () => {
  const ids = Array.from({ length: count }, (_, index) => idOf(index));
  const urls = ids.map((_, index) => `${baseUrl()}/images/${index}`);
  console.log(JSON.stringify({ base_url: baseUrl(), ids, urls }));
});
