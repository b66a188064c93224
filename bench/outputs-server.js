// Serves tasks that have succeeded, and their images, from memory: as little work as a service can have with them.
import { createServer } from "node:http";

const [count, bytes] = process.argv.slice(2).map(Number);

/** The ID of a task, in order of creation. */
const idOf = (index) => `01ARZ3NDEKTSV4RRFF${String(index).padStart(8, "0")}`;

const image = Buffer.alloc(bytes, "catalogue");
Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]).copy(image);
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

const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url, baseUrl());
  if (pathname.startsWith("/images/")) return response.writeHead(200, headers).end(image);
  if (pathname !== "/v1/tasks") {
    const error = { type: "not_found", code: "route_not_found", message: "only tasks and their images" };
    return response.writeHead(404, { "content-type": "application/json" }).end(JSON.stringify({ error }));
  }
  // Newest first, a page of so many.
  const before = Number(searchParams.get("cursor") ?? count);
  const limit = Number(searchParams.get("limit") ?? 25);
  const after = Math.max(0, before - limit);
  const data = Array.from({ length: before - after }, (_, at) => taskOf(before - 1 - at));
  const page = { object: "list", data, has_more: after > 0, next_cursor: after > 0 ? String(after) : null };
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(page));
});
const baseUrl = () => `http://127.0.0.1:${server.address().port}`;
server.listen(0, "127.0.0.1", () => {
  const ids = Array.from({ length: count }, (_, index) => idOf(index));
  const urls = ids.map((_, index) => `${baseUrl()}/images/${index}`);
  console.log(JSON.stringify({ base_url: baseUrl(), ids, urls }));
});
