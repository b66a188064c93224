// A bare loop on undici that joins the pages of an export into a file of one row per line, for the bench of live rows.
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { request } from "undici";

const [baseUrl, path] = process.argv.slice(2);
const file = createWriteStream(path);
let cursor = null;
do {
  const query = cursor === null ? "?limit=100" : `?limit=100&cursor=${cursor}`;
  const { body } = await request(`${baseUrl}/v1/exports${query}`, {
    headers: { authorization: "Bearer ak_mock" },
  });
  const page = await body.json();
  const lines = page.data.map((row) => `${JSON.stringify(row)}\n`).join("");
  if (!file.write(lines)) await once(file, "drain");
  cursor = page.next_cursor;
} while (cursor !== null);
file.end();
await once(file, "finish");
