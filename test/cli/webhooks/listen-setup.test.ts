import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { until } from "../../support/until.ts";
import { eventText, listenWorld } from "./listen-world.ts";

const elsewhere = { CAT_BASE_URL: "https://service.example.com", CAT_WEBHOOK_SECRET: "whsec_of_test" };

describe("a listener that cannot start says why in one sentence, and creates nothing", () => {
  test.for([
    [
      "no secret",
      "",
      { CAT_BASE_URL: "https://service.example.com" },
      4,
      "no webhook secret",
      "Set CAT_WEBHOOK_SECRET to the signing_secret of the webhook, or add --public-url URL or --poll.",
    ],
    [
      "an empty host",
      "--host=",
      elsewhere,
      2,
      'invalid --host "": use an address or a host name',
      "See: cat webhooks listen --help",
    ],
    [
      "the listener itself as a handler",
      "--port 4242 --forward-to http://127.0.0.1:4243/ --forward-to http://localhost:4242/x",
      elsewhere,
      2,
      "cannot forward events to http://localhost:4242/x: it is this listener",
      "Use the URL of your handler, or another --port.",
    ],
    [
      "the listener's address as a handler",
      "--port 80 --host 192.0.2.7 --route *=http://192.0.2.7/",
      elsewhere,
      2,
      "cannot forward events to http://192.0.2.7/: it is this listener",
      "Use the URL of your handler, or another --port.",
    ],
    [
      "its own public URL as a handler",
      "--public-url https://t.example.com --route *=https://t.example.com/x",
      elsewhere,
      2,
      "cannot forward events to https://t.example.com/x: it is this listener",
      "Use the URL of your handler, or another --port.",
    ],
    [
      "an unknown host",
      "--host nowhere.invalid",
      elsewhere,
      2,
      'cannot listen on "nowhere.invalid": not an address of this machine',
      "Remove --host to listen on 127.0.0.1.",
    ],
    [
      "a missing folder",
      "--log none/events.ndjson",
      elsewhere,
      2,
      "cannot open FOLDER/none/events.ndjson: no such file or folder",
      "Choose another file.",
    ],
    [
      "a folder as the log",
      "--log .",
      elsewhere,
      2,
      "cannot use FOLDER as the event log: it is not a regular file",
      "Choose another file with --log.",
    ],
    [
      "another file as the log",
      "--log a.csv",
      elsewhere,
      2,
      "FOLDER/a.csv is not an event log",
      "Choose another file with --log.",
    ],
    [
      "a file of this program",
      "--log .home/config.json",
      elsewhere,
      2,
      "cannot use --log .home/config.json: it is a file of this program",
      "Choose another file, for example --log events.ndjson.",
    ],
    [
      "a handler without a URL",
      "--forward-to localhost",
      elsewhere,
      2,
      'invalid --forward-to "localhost": use a URL such as http://127.0.0.1:3000/events',
      "See: cat webhooks listen --help",
    ],
    [
      "a route without events",
      "--route =http://127.0.0.1/",
      elsewhere,
      2,
      "invalid --route \"=http://127.0.0.1/\": use EVENTS=URL, for example 'import.*=http://127.0.0.1:3000/imports'",
      "See: cat webhooks listen --help",
    ],
    [
      "events with a space",
      "--events import.*;task",
      elsewhere,
      2,
      'invalid --events "import.*;task": use events such as import.completed, import.* or task.failed,task.succeeded',
      "See: cat webhooks listen --help",
    ],
    ["--details with --json", "--details --json", elsewhere, 2, "", ""],
    [
      "--poll with a public URL",
      "--poll --public-url https://a.example.com",
      {},
      2,
      "--poll cannot be used with --public-url",
      "Remove one of them.",
    ],
    [
      "a URL that the service rejects",
      "--public-url https://10.0.0.1/",
      {},
      3,
      "url must not point to a private address",
      "",
    ],
  ] as const)("%s", async ([name, flags, env, exit, message, hint]) => {
    const world = await listenWorld({ env });
    const ran = await world.cat(`webhooks listen --port 0 ${flags}`);
    expect(ran.exit).toBe(exit);
    if (message === "" || name === "a URL that the service rejects") return;
    expect(ran.stderr.replaceAll(world.folder, "FOLDER")).toBe(`error: ${message}\n${hint}\n`);
  });

  test("a port in use", async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const world = await listenWorld();
    expect(await world.cat(`webhooks listen --port ${port}`)).toEqual({
      exit: 2,
      stdout: "",
      stderr: `error: port ${port} on 127.0.0.1 is in use\nChoose another port with --port, or use --port 0 for a free one.\n`,
    });
    expect(world.requests()).toEqual([]);
  });

  test("a log that another listener uses", async () => {
    const world = await listenWorld({ env: elsewhere });
    const first = await world.listen("--log events.ndjson");
    expect(await world.cat("webhooks listen --port 0 --log events.ndjson")).toEqual({
      exit: 6,
      stdout: "",
      stderr: `error: another process is listening with the log ${world.folder}/events.ndjson\nStop it, or use another log with --log FILE.\n`,
    });
    expect(await world.send(first.first.listening, eventText("evt_1"))).toEqual([200, "ok"]);
    await first.stop();
    const second = await world.listen("--log events.ndjson");
    expect((await second.stop()).exit).toBe(0);
  });
});

test("the secret is masked, unless --print-secret shows it", async () => {
  const world = await listenWorld();
  const one = world.cat("webhooks listen --port 0 --print-secret");
  await until(() => one.stderr.includes("secret:"));
  const [webhook] = world.mock.state().organizations.main.webhooks;
  expect(one.stderr).toContain(`Signing secret: ${webhook!.signing_secret}\n`);
  one.interrupt();
  await one;
  const two = await world.listen("--print-secret");
  expect(two.first).toMatchObject({ signing_secret: expect.stringMatching(/^whsec_[0-9a-f]{64}$/) });
  await two.stop();
});

test("the name of the signature header is a setting of the profile", async () => {
  const world = await listenWorld({ env: elsewhere });
  world.write(
    ".home/config.json",
    JSON.stringify({ profiles: { default: { signatureHeader: "Brand-Signature" } } }),
  );
  const listener = await world.listen();
  expect(await world.send(listener.first.listening, eventText("evt_1"))).toEqual([
    400,
    "the header Brand-Signature is missing",
  ]);
  await listener.stop();
});
