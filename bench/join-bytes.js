// A bare loop on undici that joins the bytes of the pages of all products in a file, and reads nothing of them but the
// cursor at their end, for the bench of lists.
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { request } from "undici";

const [baseUrl, path] = process.argv.slice(2);
const file = createWriteStream(path);
let cursor = null;
do {
  const query = cursor === null ? "?limit=100" : `?limit=100&cursor=${cursor}`;
  const { body } = await request(`${baseUrl}/v1/products${query}`, {
    headers: { authorization: "Bearer ak_mock" },
  });
  const bytes = Buffer.from(await body.arrayBuffer());
  if (!file.write(bytes)) await once(file, "drain");
  cursor = /"next_cursor":"(\w+)"/.exec(bytes.subarray(-100).toString("latin1"))?.[1] ?? null;
} while (cursor !== null);
file.end();
await once(file, "finish");
