// Bare loops on undici that write what URLs serve into files, 50 at once as `curl --parallel` does: the file FOLDER/N of
// each URL on standard input.
import { open } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { Agent, request } from "undici";

const atOnce = 50;
const folder = process.argv[2];
const urls = (await text(process.stdin)).trim().split("\n");
const dispatcher = new Agent({ connections: atOnce });
let next = 0;

async function loop() {
  for (let number = next++; number < urls.length; number = next++) {
    const { body } = await request(urls[number], { dispatcher });
    const file = await open(join(folder, String(number)), "w");
    for await (const chunk of body) await file.write(chunk);
    await file.close();
  }
}

await Promise.all(Array.from({ length: Math.min(atOnce, urls.length) }, loop));
await dispatcher.close();
