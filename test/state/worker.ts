// A process that works on a state, for tests that kill it. It prints each finished step as a line
// immediately.
import { closeSync, openSync, unlinkSync, writeSync } from "node:fs";
import { systemClock } from "../../src/clock.ts";
import { openState } from "../../src/state/state.ts";

const [path = "", task = "", name = "", times = "0"] = process.argv.slice(2);
const say = (line: string): void => void writeSync(1, `${line}\n`);
const bytes = (text: string): Uint8Array => Buffer.from(text);
const state = await openState(path, { clock: systemClock() });

/** Records batch after batch until settled; prints `begun N`, `accepted N`, `settled N` after each commit. */
function work(): void {
  const [account] = state.accounts.at("http://service.example");
  state.runs.begin({
    id: name,
    account: account!,
    kind: "import",
    identity: name,
    file: "products.csv",
    options: {},
    startedAt: 1,
  });
  for (let index = 0; index < Number(times); index++) {
    const references = [`${name}-${index}-a`, `${name}-${index}-b`];
    const body = Buffer.alloc(20_000, `${name} ${index} `);
    const places = Uint32Array.of(2 * index, 2 * index + 1);
    state.batches.begin(account!, {
      run: name,
      index,
      idempotencyKey: `key-${index}`,
      rows: places,
      lines: places,
      sentAt: index,
      sentAtService: null,
      exclusive: true,
      memo: bytes(`memo ${index}`),
      body,
      references,
    });
    say(`begun ${index}`);
    state.batches.accepted(name, index, [`import-${index}`]);
    say(`accepted ${index}`);
    const entries = references.map((reference) => ({
      reference,
      productId: `product-of-${reference}`,
      fields: bytes("fields"),
      photos: [{ source: Buffer.from("source of photo."), image: "image" }],
    }));
    state.batches.settled(name, index, entries);
    say(`settled ${index}`);
  }
}

/** Holds a run. */
function keep(): void {
  const held = state.runs.hold(1, name, { pid: process.pid, since: 7 });
  say("heldBy" in held ? `held by ${held.heldBy.pid}` : "holds");
  setInterval(() => {}, 1_000);
}

/** Takes and releases a run repeatedly; prints `met` if another process holds it at the same time. */
function alternate(): void {
  let taken = 0;
  while (taken < Number(times)) {
    const held = state.runs.hold(1, name, { pid: process.pid, since: taken });
    if ("heldBy" in held) continue;
    taken++;
    try {
      closeSync(openSync(`${path}.${name}.in-use`, "wx"));
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
      unlinkSync(`${path}.${name}.in-use`);
    } catch {
      say("met");
    }
    held.release();
  }
}

({ work, keep, alternate })[task as "work" | "keep" | "alternate"]();
if (task !== "keep") {
  state.close();
  say("closed");
}
