// A bare loop with the promises of a mirror: the file FOLDER/N of each URL on standard input, whose name and digest are in an
// SQLite database before it has its name, and whose bytes are on the disk before that. Batches of 64 are synced while the
// next images are downloaded. With `--no-sync` they are not synced; with `--bare` no promise is
// kept, and only the names are given later.
import { createHash, randomUUID } from "node:crypto";
import { closeSync, fsync, openSync, renameSync, writevSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import Database from "libsql";
import { Agent, request } from "undici";

const [atOnce, batchSize] = [8, 64];
const [folder, flag] = process.argv.slice(2);
const urls = (await text(process.stdin)).trim().split("\n");
const dispatcher = new Agent({ connections: atOnce });
const db = new Database(join(folder, "index.db"));
db.exec(
  "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE file (name TEXT, sha256 TEXT, line TEXT)",
);
const insert = db.prepare("INSERT INTO file VALUES (?, ?, ?)");
const isBare = flag === "--bare";
const sync = flag === undefined ? promisify(fsync) : async () => {};
let [next, batch, writing] = [0, [], Promise.resolve()];

async function keep(images) {
  await Promise.all(
    images.map(async ({ descriptor }) => {
      await sync(descriptor);
      closeSync(descriptor);
    }),
  );
  if (!isBare) {
    db.exec("BEGIN");
    for (const { name, sha256 } of images) insert.run(name, sha256, JSON.stringify({ name, sha256 }));
    db.exec("COMMIT");
  }
  for (const { part, name } of images) renameSync(part, join(folder, name));
}

async function loop() {
  for (let number = next++; number < urls.length; number = next++) {
    const { body } = await request(urls[number], { dispatcher });
    const hash = createHash("sha256");
    const part = join(folder, `.${randomUUID()}`);
    const descriptor = openSync(part, "wx");
    const chunks = [];
    for await (const chunk of body) {
      if (!isBare) hash.update(chunk);
      chunks.push(chunk);
    }
    writevSync(descriptor, chunks);
    batch.push({ part, descriptor, name: `${number}.png`, sha256: hash.digest("hex") });
    if (batch.length < batchSize) continue;
    const full = batch;
    batch = [];
    writing = writing.then(() => keep(full));
    await (batch.length > 0 ? writing : undefined);
  }
}

await Promise.all(Array.from({ length: atOnce }, loop));
await writing;
await keep(batch);
await dispatcher.close();
