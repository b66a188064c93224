import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { signDelivery } from "../../../src/contract/signature.ts";
import { EventLog } from "../../../src/flows/listen/event-log.ts";
import { listen } from "../../../src/flows/listen/listen.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { TestClock } from "../../support/test-clock.ts";

const secret = "whsec_of_test";
const lineOf = (id: string) => ({
  ...{ id, type: "import.completed", created_at: null, data: null, header: null, body: "{}" },
  received_at: "2026-01-05T09:00:00Z",
});

test("events that were missed are shown after the address, and before any new event", async () => {
  const logPath = join(temporaryFolder(), "events.ndjson");
  const log = await EventLog.open(logPath);
  await log.append(lineOf("evt_missed"));
  log.markShown(1);
  await log.close();
  const { dev, ino } = statSync(logPath);
  writeFileSync(`${logPath}-shown`, JSON.stringify({ dev, ino, events: 0 }));

  const clock = new TestClock();
  const stop = new AbortController();
  const shown: string[] = [];
  const post = async (url: string) => {
    const body = JSON.stringify({ id: "evt_new", type: "import.failed" });
    const header = signDelivery(secret, body, Math.floor(clock.now() / 1000));
    return (await fetch(url, { method: "POST", headers: { "Service-Signature": header }, body })).status;
  };
  let url = "";
  let sent: Promise<number> | null = null;
  await listen(
    {
      source: { kind: "secret", secret },
      ...{ host: "127.0.0.1", port: 0, path: "/", logPath, handlers: [], events: null, awaited: null },
      ...{ headerName: "Service-Signature", toleranceSeconds: 300 },
    },
    {
      ...{ clock, pid: 1, runId: "run", signal: stop.signal },
      send: () => Promise.reject(new Error("no handlers")),
      view: {
        onMissing: (count) => void shown.push(`${count} missed`),
        async onMissed({ id }) {
          // Its connection is accepted before the event is shown.
          sent = post(url);
          for (let turn = 0; turn < 200; turn++) await new Promise(setImmediate);
          shown.push(id);
        },
        onEvent({ id }) {
          shown.push(id);
          void sent!.then(() => stop.abort());
        },
        onHandled() {},
        onRepeated() {},
        onProblem: (message) => void shown.push(message),
      },
      onNote() {},
      onUnaccepted() {},
      async onListening(listening) {
        url = listening.url!;
        shown.push("address");
      },
    },
  );
  expect([shown, await sent]).toEqual([["address", "1 missed", "evt_missed", "evt_new"], 200]);
});
