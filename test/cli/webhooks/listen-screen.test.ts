import { PassThrough } from "node:stream";
import stringWidth from "string-width";
import { describe, expect, test } from "vitest";
import { drawScreen } from "../../../src/cli/commands/listen/draw-screen.ts";
import {
  afterKey,
  emptyScreen,
  type Key,
  type ScreenState,
  type ShownEvent,
  selectedEvent,
} from "../../../src/cli/commands/listen/screen-state.ts";
import { visible } from "../../../src/text.ts";
import { until } from "../../support/until.ts";
import { eventText, listenWorld, startHandler } from "./listen-world.ts";

const plain = (text: string) => text;
const paint = { bold: plain, dim: plain, red: plain, green: plain, yellow: plain, cyan: plain };

const shown = (id: string, type: string, statuses: readonly (number | null)[] = []) => {
  const body = eventText(id, type);
  const event = { ...JSON.parse(body), received_at: "2026-01-05T09:00:00.000Z", header: "t=1", body };
  const responses = statuses.map((status) => ({
    url: "http://127.0.0.1:3000/",
    status,
    line: "said\x1b[2J",
  }));
  return {
    event,
    isMissed: false,
    delivery: { rawHeaders: ["X-Long", "y".repeat(300)], body: Buffer.from(body) },
    responses,
    details: null,
  };
};
const state: ScreenState = {
  ...emptyScreen,
  events: [
    shown("evt_1", "import.completed", [500, 200]),
    shown("evt_2", "task.failed", [null]),
    shown("evt_3", "\x1b[31mhostile 商品の画像が生成されました", []),
  ],
  message: "note \x1b[2J".repeat(20),
  warning: ["warning: \x1b[2J".repeat(20), "y".repeat(300)],
  warnings: [["warning: \x1b[2J".repeat(20), "y".repeat(300)]],
};

const press = (from: ScreenState, ...keys: (string | Key)[]) =>
  keys.reduce(
    (now, key) => afterKey(now, typeof key === "string" ? { name: key, sequence: key } : key, 10).state,
    from,
  );
const text = (characters: string): Key[] => [...characters].map((sequence) => ({ name: sequence, sequence }));

describe("the screen", () => {
  test.for([1, 20, 60, 100, 200])("fits %d columns, and shows no control characters", (columns) => {
    for (const mode of ["list", "details", "filter", "warnings"] as const) {
      const lines = drawScreen(
        { ...state, mode },
        { columns, rows: 12, title: "http://127.0.0.1:4242/", target: "to http://h/", paint, visible },
      );
      expect(lines).toHaveLength(12);
      for (const line of lines) {
        expect(stringWidth(line)).toBeLessThanOrEqual(Math.max(2, columns));
        expect(line).not.toMatch(/[\x00-\x1f]/);
      }
    }
  });

  test("lists time, event, result, responses and resource, with the newest selected", () => {
    const events = state.events.slice(0, 2);
    const lines = drawScreen(
      { ...state, events, message: "", warning: [], warnings: [] },
      { columns: 60, rows: 6, title: "T", target: "", paint, visible },
    );
    const time = new Date("2026-01-05T09:00:00Z").toTimeString().slice(0, 8);
    expect(lines).toEqual([
      "T · 2 events",
      "",
      `  ${time} import.completed completed ✓ 200 X`,
      `❯ ${time} task.failed      failed    ✗     X`,
      "",
      "↑↓ select  Enter details  r resend  / filter  q quit",
    ]);
  });

  test("shows what is below, what is of an earlier listener, which handlers are waited for, and completed_with_errors in a narrow list", () => {
    const narrow = { columns: 60, rows: 9, title: "T", target: "to H", paint, visible };
    const [one, two] = state.events.slice(0, 2) as [ShownEvent, ShownEvent];
    const waiting = { ...one, event: { ...one.event, handlers: ["http://h/"] }, responses: [] };
    const bad = {
      ...one,
      event: { ...one.event, id: "evt_0", data: { import: { id: "X", status: "completed_with_errors" } } },
    };
    const now = {
      ...emptyScreen,
      events: [{ ...bad, isMissed: true }, waiting, two],
      selected: waiting.event.id,
    };
    const lines = drawScreen({ ...now, warning: ["warning: w"] }, narrow);
    expect(lines[0]).toBe("T · 3 events · 1 newer · to H");
    expect(lines[2]).toBe("  earlier  import.completed errors    ✓ 200 X");
    expect(lines[3]).toContain(" import.completed completed …     X");
    expect(lines.at(-1)).toBe("↑↓ select  Enter details  r resend  / filter  q quit  Esc h…");
    const details = drawScreen({ ...now, mode: "details" }, narrow);
    expect(details.slice(2, 7)).toEqual([
      "import.completed  evt_1",
      "received 2026-01-05T09:00:00.000Z",
      "",
      "Handlers",
      "  no response yet",
    ]);
    const missed = { ...now, mode: "details" as const, events: [{ ...waiting, isMissed: true }] };
    const ofMissed = drawScreen(missed, narrow);
    expect([ofMissed[3], ofMissed[6]]).toEqual([
      "received 2026-01-05T09:00:00.000Z, by an earlier listener",
      "  not sent by this listener; press r to send it",
    ]);
    expect(drawScreen({ ...missed, mode: "list" }, narrow)[2]).toBe(
      "❯ earlier  import.completed completed       X",
    );
    expect(details.at(-1)).toBe("↑↓ scroll (21 more lines)  Enter back  r resend  q quit");
  });

  test("shows the secret below the title, and all warnings with w", () => {
    const warnings = [["warning: one", "Fix one."], ["warning: two"], ["warning: three"]];
    const options = { columns: 60, rows: 9, title: "T", target: "", secret: "whsec_1", paint, visible };
    const listed = { ...state, message: "", warning: warnings[2]!, warnings };
    const list = drawScreen(listed, { ...options, columns: 90 });
    expect([list[1], ...list.slice(-3)]).toEqual([
      "Signing secret: whsec_1",
      "warning: three",
      "",
      "↑↓ select  Enter details  r resend  / filter  q quit  w 3 warnings  Esc hide warning",
    ]);
    const secret = `whsec_${"0".repeat(64)}`;
    expect(drawScreen(listed, { ...options, columns: 80, secret })[1]).toBe(secret);
    const all = press(listed, "w");
    expect(drawScreen(all, options).slice(2)).toEqual([
      ...["warning: one", "Fix one.", "", "warning: two", ""],
      ...["", "↑↓ scroll (2 more lines)  Enter back  q quit"],
    ]);
    expect(press(all, "escape").mode).toBe("list");
    expect(press(emptyScreen, "w").mode).toBe("list");
  });

  test("wraps a warning and its next step, keeps them until Esc, and says that a filter matches nothing", () => {
    const warning = [
      "warning: the signature is 400 s old, 100 s more than the tolerance",
      "Check the clock.",
    ];
    const of = (now: ScreenState, columns: number, rows = 12) =>
      drawScreen(now, { columns, rows, title: "T", target: "", paint, visible });
    const lines = of(press({ ...state, warning, filter: "none of them", message: "" }, "up"), 40);
    expect(lines.slice(2, -2)).toEqual([
      "No event matches the filter.",
      "",
      "",
      "",
      "",
      "warning: the signature is 400 s old, 100",
      "s more than the tolerance",
      "Check the clock.",
    ]);
    expect(of({ ...state, warning, message: "" }, 40, 8).slice(4, -2)).toEqual([
      "warning: the signature is 400 s old, 100",
      "s more than the tolerance …",
    ]);
    expect(press({ ...state, warning }, "escape").warning).toEqual([]);
  });

  test("selects, follows, filters, shows and leaves details by keys", () => {
    const idOf = (now: ScreenState) => selectedEvent(now)?.event.id;
    expect(idOf(state)).toBe("evt_3");
    expect(idOf(press(state, "up"))).toBe("evt_2");
    expect(idOf(press(state, "up", "up", "up", "up"))).toBe("evt_1");
    expect(press(state, "up", "down").selected).toBeNull();
    const filtered = press(state, { name: "/", sequence: "/" }, ...text("TASKq"), "backspace", "return");
    expect([filtered.filter, filtered.mode, idOf(filtered)]).toEqual(["TASK", "list", "evt_2"]);
    expect(press(filtered, "escape")).toMatchObject({ filter: "", mode: "list" });
    expect(press(filtered, "return")).toMatchObject({ mode: "details", selected: "evt_2" });
    expect(press(filtered, "return", "return").mode).toBe("list");
    expect(afterKey(state, { name: "q" }, 10).act).toBe("quit");
    expect(afterKey(state, { name: "c", ctrl: true }, 10).act).toBe("quit");
    expect(afterKey(state, { name: "r" }, 10).act).toBe("resend");
    expect(afterKey(emptyScreen, { name: "r" }, 10).act).toBeNull();
    expect(afterKey({ ...state, mode: "filter" }, { name: "q", sequence: "q" }, 10)).toMatchObject({
      act: null,
    });
  });
});

test("on a terminal, r sends an event again signed afresh, and q deletes the webhook and exits with 0", async () => {
  const world = await listenWorld({ env: { NO_COLOR: "1" } });
  const handler = await startHandler((_, count) => [count === 1 ? 500 : 200, "stored"]);
  const keys = new PassThrough();
  const running = world.cat(`webhooks listen --port 0 --forward-to ${handler.url}`, {
    tty: true,
    stdin: keys,
  });
  await until(() => running.stdout.includes("Waiting for events."));
  expect(await world.cat("import a.csv --quiet")).toMatchObject({ exit: 0 });
  await until(() => running.stdout.includes("✗ 500"));
  keys.write("\r");
  await until(() => running.stdout.includes("Payload"));
  world.clock.advance(400_000);
  await until(() => handler.received.length >= 2);
  // Without a retry in flight, the next request is that of the key.
  await world.mock.settled();
  const before = handler.received.length;
  keys.write("r");
  await until(() => handler.received.length > before && running.stdout.includes("again: 200 stored (http:"));
  const [, signature] = /t=(\d+)/.exec(String(handler.received.at(-1)!.headers["service-signature"]))!;
  expect(Number(signature)).toBe(Math.floor(world.clock.now() / 1000));
  const [listener = ""] = /http:[^ ·]+/.exec(running.stdout) ?? [];
  for (let times = 0; times < 7; times++) await world.send(listener, "x", { header: "t=1" });
  await until(() => running.stdout.includes("Pass the complete value"));
  keys.write("\r");
  keys.write("w");
  await until(() => running.stdout.includes("Enter back  q quit"));
  expect(running.stderr).not.toContain("warning");
  keys.write("q");
  const { exit, stderr } = await running;
  expect(exit).toBe(0);
  expect(stderr.slice(stderr.indexOf("warning: the header")).split("\n")).toEqual([
    "warning: the header Service-Signature is not of the form t=SECONDS,v1=HEX",
    "Pass the complete value of the header, unchanged.",
    "warning: 2 more problems were not shown",
    "",
  ]);
  expect(running.stdout.endsWith("\x1b[?25h\x1b[?1049l")).toBe(true);
  expect(world.mock.state().organizations.main.webhooks).toEqual([]);
});

test("a terminal that is closed ends the interactive view with 129, whether its signal or its end comes first", async () => {
  const world = await listenWorld({ env: { NO_COLOR: "1" } });
  const keys = new PassThrough();
  const running = world.cat("webhooks listen --port 0", { tty: true, stdin: keys });
  await until(() => running.stdout.includes("Waiting for events."));
  keys.end();
  expect((await running).exit).toBe(129);
  expect(world.mock.state().organizations.main.webhooks).toEqual([]);
});

test("--plain prints lines on a terminal", async () => {
  const world = await listenWorld({
    columns: 300,
    env: { CAT_BASE_URL: "https://a.example.com", CAT_WEBHOOK_SECRET: "whsec_of_test", NO_COLOR: "1" },
  });
  const running = world.cat("webhooks listen --port 0 --plain", { tty: true });
  await until(() => running.stderr.includes("Events are stored"));
  const [url = ""] = /http:\S+\/(?=\.)/.exec(running.stderr) ?? [];
  for (let times = 0; times < 2; times++) await world.send(url, eventText("evt_1"));
  await world.send(url, "x", { header: "t=1" });
  running.interrupt();
  const { exit, stdout, stderr } = await running;
  const time = new Date(world.clock.now()).toTimeString().slice(0, 8);
  expect([exit, stdout]).toEqual([0, `${time}  import.completed  X  completed\n`]);
  expect(stderr.split("\n").slice(2)).toEqual([
    "Received import.completed evt_1 again.",
    "warning: the header Service-Signature is not of the form t=SECONDS,v1=HEX",
    "Pass the complete value of the header, unchanged.",
    "",
  ]);
});
