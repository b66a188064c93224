// A bare node:http JSON server with products in a Map, as the baseline of the mock's speed. It sends the same
// bytes including headers, because five more headers slow down any client.
import { createServer } from "node:http";

const products = new Map();
/** In order of creation. */
const newest = [];
const pageSize = 100;
const cursor = "MTAwMDAwLmFiY2RlZmdoaWprbG1ub3A";
let next = 0;
let answered = 0;
const date = new Date().toUTCString();

const server = createServer((request, response) => {
  if (request.url.startsWith("/v1/products?")) {
    return send(response, 200, {
      data: newest.slice(-pageSize).reverse(),
      next_cursor: cursor,
      has_more: true,
    });
  }
  if (request.method === "GET") {
    const product = products.get(request.url.slice("/v1/products/".length));
    return send(response, product === undefined ? 404 : 200, product ?? { error: "not found" });
  }
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    const body = JSON.parse(Buffer.concat(chunks).toString("utf8"));
    const now = new Date().toISOString();
    const id = String(next++).padStart(26, "0");
    const images = body.images.map(({ image_id, orientation }) => ({
      id: image_id,
      orientation,
      origin: "user",
    }));
    const { name, reference } = body;
    const product = {
      id,
      name,
      reference,
      description: null,
      sex: null,
      images,
      created_at: now,
      updated_at: now,
    };
    products.set(id, product);
    newest.push(product);
    send(response, 201, product);
  });
});

function send(response, status, value) {
  const body = JSON.stringify(value);
  response.writeHead(status, [
    "Date",
    date,
    "X-Request-Id",
    `req_bareserv_${++answered}`,
    "X-RateLimit-Limit",
    1_000_000,
    "X-RateLimit-Remaining",
    1_000_000,
    "X-RateLimit-Reset",
    1_790_000_000,
    "Content-Type",
    "application/json; charset=utf-8",
    "Content-Length",
    Buffer.byteLength(body),
  ]);
  response.end(body);
}

server.listen(0, "127.0.0.1", () => {
  console.log(JSON.stringify({ base_url: `http://127.0.0.1:${server.address().port}`, bare: true }));
});
