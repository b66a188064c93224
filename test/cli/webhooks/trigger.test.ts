import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { verifyWebhook } from "../../../src/index.ts";
import { createWorld } from "../../support/world.ts";

const secret = "whsec_0123456789abcdef";
const env = { CAT_WEBHOOK_SECRET: secret, CAT_API_KEY: undefined, CAT_BASE_URL: undefined };

interface Received {
  header: string | null;
  rawBody: Buffer;
}

/** A handler on this machine, and the deliveries that it received. */
async function handler(
  respond: (delivery: Received) => { status: number; text?: string },
  onPiece: (bytes: number) => void = () => {},
  names: string[] = [],
) {
  const received: Received[] = [];
  const server = createServer(async (request: IncomingMessage, response) => {
    names.push(...Object.keys(request.headers));
    const chunks: Buffer[] = [];
    for await (const chunk of request) {
      chunks.push(chunk as Buffer);
      onPiece(chunk.length);
    }
    const header = request.headers["service-signature"] as string | undefined;
    const delivery = { header: header ?? null, rawBody: Buffer.concat(chunks) };
    received.push(delivery);
    const { status, text = "" } = respond(delivery);
    response.writeHead(status).end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return { received, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks?a=1` };
}

/** The service's time in the tests, which sign with it. */
const now = Date.parse("2026-01-05T09:00:00Z");
const eventsOf = (received: readonly Received[]) =>
  received.map((delivery) => verifyWebhook({ ...delivery, secret, now }));

describe("cat webhooks trigger", () => {
  test.each([
    ["task.succeeded", "task", "succeeded"],
    ["task.failed", "task", "failed"],
    ["import.completed", "import", "completed"],
    ["import.failed", "import", "failed"],
    ["export.completed", "export", "completed"],
    ["export.failed", "export", "failed"],
  ])("sends a signed event: %s", async (type, resource, status) => {
    const { received, url } = await handler(() => ({ status: 204 }));
    const world = await createWorld({ env });
    const ran = await world.cat(`webhooks trigger ${type} --to ${url} --json`);
    expect(eventsOf(received)).toEqual([
      {
        id: expect.stringMatching(/^evt_[0-9A-Z]{26}$/),
        type,
        created_at: "2026-01-05T09:00:00.000Z",
        data: { [resource]: { id: expect.stringMatching(/^[0-9A-Z]{26}$/), status } },
      },
    ]);
    expect({ ...ran, stdout: JSON.parse(ran.stdout) }).toEqual({
      exit: 0,
      stderr: "",
      stdout: { id: eventsOf(received)[0]!.id, type, url, status: 204, response: "", ms: 0 },
    });
  });

  test("repeats the event with an event ID, and names the resource with another ID", async () => {
    const { received, url } = await handler(() => ({ status: 200 }));
    const world = await createWorld({ env });
    await world.cat(`webhooks trigger task.failed --to ${url} --id evt_again --times 2`);
    await world.cat(`webhooks trigger task.failed --to ${url} --id 01KE6W9ZJ8Q3V5X7B2D4F6H8JK --times 2`);
    const events = eventsOf(received);
    expect(events.slice(0, 2).map(({ id }) => id)).toEqual(["evt_again", "evt_again"]);
    expect(new Set(events.slice(2).map(({ id }) => id)).size).toBe(2);
    expect(events.slice(2).map(({ data }) => data)).toEqual(
      Array(2).fill({ task: { id: "01KE6W9ZJ8Q3V5X7B2D4F6H8JK", status: "failed" } }),
    );
  });

  test("exits with 8 when the handler rejects some, with the first line of its response", async () => {
    const { received, url } = await handler(() =>
      received.length === 1
        ? { status: 200, text: "ok\n" }
        : { status: 500, text: "\nno \u001b[31mroom\nmore" },
    );
    const world = await createWorld({ env });
    const ran = await world.cat(`webhooks trigger export.failed --to ${url} --times 2`);
    const [first, second] = eventsOf(received);
    expect(ran).toEqual({
      exit: 8,
      stdout:
        "type           status  response         id\n" +
        `export.failed  200     ok               ${first!.id}\n` +
        `export.failed  500     no \\x1b[31mroom  ${second!.id}\n`,
      stderr: "The handler did not accept 1 of 2 deliveries. Check its output, and run the command again.\n",
    });
  });

  test("with --json, the error says how many deliveries the handler rejects", async () => {
    const { received, url } = await handler(() => ({ status: received.length === 1 ? 200 : 500 }));
    const world = await createWorld({ env });
    const ran = await world.cat(`webhooks trigger export.failed --to ${url} --times 2 --json`);
    expect(JSON.parse(ran.stderr).error).toEqual({
      type: "partial",
      code: "part_failed",
      message: "the handler did not accept 1 of 2 deliveries. Check its output, and run the command again.",
      exit: 8,
    });
  });

  test("exits with 7 when the handler cannot be reached", async () => {
    const world = await createWorld({ env });
    const ran = await world.cat("webhooks trigger task.failed --to http://127.0.0.1:1/");
    expect([ran.exit, ran.stderr]).toEqual([
      7,
      "The handler cannot be reached. Check that it runs, and its URL.\n",
    ]);
    expect(ran.stdout).toContain("none    connection refused  evt_");
  });

  test("uses the header name of the profile", async () => {
    const names: string[] = [];
    const { url } = await handler(() => ({ status: 200 }), undefined, names);
    const world = await createWorld({ env });
    world.write(
      ".home/config.json",
      JSON.stringify({ profiles: { default: { signatureHeader: "Shop-Sign" } } }),
    );
    expect((await world.cat(`webhooks trigger task.failed --to ${url}`)).exit).toBe(0);
    expect(names).toContain("shop-sign");
    expect(names).not.toContain("service-signature");
  });

  test("does not follow a redirect", async () => {
    const { url } = await handler(() => ({ status: 302 }));
    const world = await createWorld({ env });
    expect((await world.cat(`webhooks trigger task.failed --to ${url}`)).exit).toBe(8);
  });

  test.each([
    [
      "webhooks trigger task.done --to http://127.0.0.1:1/",
      'invalid EVENT "task.done": use task.succeeded, ',
    ],
    ["webhooks trigger task.failed", "missing flag: --to URL"],
    ["webhooks trigger task.failed --to ftp://x/", 'invalid --to "ftp://x/": use a URL such as '],
    [
      "webhooks trigger task.failed --to http://x/ --id abc",
      'invalid --id "abc": use an event ID (evt_...), or ',
    ],
    [
      "webhooks trigger task.failed --to http://x/ --times 2 --torture",
      "--torture cannot be used with --times",
    ],
  ])("exits with 2: cat %s", async (line, message) => {
    const world = await createWorld({ env });
    const ran = await world.cat(line);
    expect([ran.exit, ran.stdout]).toEqual([2, ""]);
    expect(ran.stderr).toContain(`error: ${message}`);
  });

  test("exits with 4 without a secret", async () => {
    const world = await createWorld();
    const ran = await world.cat("webhooks trigger task.failed --to http://127.0.0.1:1/");
    expect([ran.exit, ran.stderr.split("\n")[0]]).toEqual([4, "error: no webhook secret"]);
  });
});

describe("cat webhooks trigger --torture", () => {
  /** A handler that verifies, unless `isLax`; `seen` breaks it for duplicates. */
  const verifying = ({ isLax = false, rejectsDuplicates = false }) => {
    const seen = new Set<string>();
    return ({ header, rawBody }: Received) => {
      try {
        const { id } = isLax
          ? (JSON.parse(rawBody.toString()) as { id: string })
          : verifyWebhook({ header, rawBody, secret, now });
        const status = rejectsDuplicates && seen.has(id) ? 409 : 200;
        seen.add(id);
        return { status };
      } catch {
        return { status: 400 };
      }
    };
  };
  const resultsOf = async (respond: (delivery: Received) => { status: number }) => {
    const world = await createWorld({ env });
    // A slow body waits for the clock between its pieces, which does not jump during a request.
    const { url, received } = await handler(respond, (bytes) => {
      if (bytes < 100) world.clock.advance(300);
    });
    const ran = await world.cat(`webhooks trigger import.completed --to ${url} --torture --json`);
    const results = ran.stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { name: string; ok: boolean; responses: string[]; why?: string });
    return { exit: ran.exit, results, received, stderr: ran.stderr };
  };

  test("passes a handler that verifies and deduplicates", async () => {
    const { exit, results, received } = await resultsOf(verifying({}));
    expect(exit).toBe(0);
    expect(results.map(({ name, responses, ok }) => `${name}: ${responses.join(" ")} ${ok}`)).toEqual([
      "genuine: 200 true",
      "duplicate: 200 200 true",
      "out of order: 200 200 true",
      "new event type: 200 true",
      "slow body: 200 true",
      "no signature: 400 true",
      "forged signature: 400 400 true",
      "stale timestamp: 400 true",
      "huge body: 200 true",
      "genuine again: 200 true",
    ]);
    expect(Math.max(...received.map(({ rawBody }) => rawBody.length))).toBeGreaterThan(5_000_000);
  });

  test("finds a handler that does not verify", async () => {
    const { exit, results } = await resultsOf(verifying({ isLax: true }));
    expect(exit).toBe(8);
    expect(results.filter(({ ok }) => !ok).map(({ name }) => name)).toEqual([
      "no signature",
      "forged signature",
      "stale timestamp",
    ]);
    expect(results.filter(({ why }) => why !== undefined).map(({ name, why }) => `${name}: ${why}`)).toEqual([
      "no signature: Anyone can send this. Respond 400 if the header is missing.",
      "forged signature: Anyone can send this. Compare the signature with one of your own, and respond 400.",
      "stale timestamp: A recorded delivery can be sent again. Respond 400 to a signature older than 300 seconds.",
    ]);
  });

  test("says why each response is wrong, below the table", async () => {
    const world = await createWorld({ env });
    const { url } = await handler(verifying({ rejectsDuplicates: true }), (bytes) => {
      if (bytes < 100) world.clock.advance(300);
    });
    const { exit, stderr } = await world.cat(`webhooks trigger import.completed --to ${url} --torture`);
    expect([exit, stderr]).toEqual([
      8,
      "duplicate: The service sends an event again until it gets a 2xx. Respond 2xx to an ID that was handled before.\n" +
        "The handler failed 1 check of 10. Compare it with the receivers in docs/webhooks.md.\n",
    ]);
  });

  test("with --json, the error says how many checks failed", async () => {
    const { stderr } = await resultsOf(verifying({ isLax: true }));
    expect(JSON.parse(stderr).error).toEqual({
      type: "partial",
      code: "part_failed",
      message: "the handler failed 3 checks of 10. Compare it with the receivers in docs/webhooks.md.",
      exit: 8,
    });
  });

  test("finds a handler that fails for a repeated event", async () => {
    const { exit, results } = await resultsOf(verifying({ rejectsDuplicates: true }));
    expect(exit).toBe(8);
    expect(results.filter(({ ok }) => !ok).map(({ name }) => name)).toEqual(["duplicate"]);
  });
});
