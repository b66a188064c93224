// Serves one completed export and its artifact, a file: what a storage behind signed URLs does.
import { createReadStream, statSync } from "node:fs";
import { createServer } from "node:http";
import { pipeline } from "node:stream";

const path = process.argv[2];
const { size } = statSync(path);
const id = "01ARZ3NDEKTSV4RRFF00000001";

const jobOf = () => ({
  id,
  format: "zip",
  status: "completed",
  url: `${baseUrl()}/artifacts/${id}.zip`,
  url_expires_at: "2100-01-01T00:00:00.000Z",
  total_assets: 50,
  error: null,
  created_at: "2026-01-01T00:00:00.000Z",
  finished_at: "2026-01-01T00:00:09.000Z",
});

const server = createServer((request, response) => {
  if (!request.url.startsWith("/artifacts/")) {
    response.writeHead(200, { "content-type": "application/json" });
    return response.end(JSON.stringify(jobOf()));
  }
  const [, from] = /^bytes=(\d+)-/.exec(request.headers.range ?? "") ?? [];
  const start = Number(from ?? 0);
  response.writeHead(from === undefined ? 200 : 206, {
    "content-type": "application/zip",
    "content-length": size - start,
    "accept-ranges": "bytes",
    etag: '"1"',
    ...(from === undefined ? {} : { "content-range": `bytes ${start}-${size - 1}/${size}` }),
  });
  pipeline(createReadStream(path, { start, highWaterMark: 1024 * 1024 }), response, () => {});
});
const baseUrl = () => `http://127.0.0.1:${server.address().port}`;
server.listen(0, "127.0.0.1", () => {
  console.log(JSON.stringify({ base_url: baseUrl(), id, url: jobOf().url, bytes: size }));
});
