import sharp from "sharp";
import { describe, expect, test } from "vitest";
import { detectGraphics } from "../../src/cli/app/thumbnails.ts";
import { until } from "../support/until.ts";
import { createWorld } from "../support/world.ts";
import { generateWorld } from "./generate/generate-world.ts";

const kitty = { env: { TERM: "xterm-kitty" }, tty: true };
const iterm = { env: { TERM_PROGRAM: "iTerm.app" }, tty: true };
const foot = { env: { TERM: "foot" }, tty: true };

/** The PNG of the Kitty sequences in a text. */
const kittyImage = (text: string) =>
  Buffer.from([...text.matchAll(/\x1b_G[^;]*;([^\x1b]*)\x1b\\/g)].map(([, part]) => part).join(""), "base64");

async function withProduct() {
  const world = await createWorld({ mock: { demo: 1 } });
  const { reference, images } = world.products()[0]!;
  return { ...world, get: `products get ${reference}`, show: `images get ${images[0]!.id}` };
}

describe("products get and images get", () => {
  test("draw a PNG below the resource in Kitty, in chunks of 4,096 characters", async () => {
    const { cat, get, show } = await withProduct();
    for (const line of [get, show]) {
      const { exit, stdout, stderr } = await cat(line, kitty);
      expect({ exit, stderr }).toEqual({ exit: 0, stderr: "" });
      const [text, picture] = [
        stdout.slice(0, stdout.indexOf("\x1b_G")),
        stdout.slice(stdout.indexOf("\x1b_G")),
      ];
      expect(text).toBe((await cat(`${line} --no-thumbnail`, kitty)).stdout);
      expect(picture).toMatch(
        /^\x1b_Gf=100,a=T,q=2,m=[01];[\s\S]*m=0;[^;]*\x1b\\\n$|^\x1b_Gf=100,a=T,q=2,m=0;/,
      );
      const { format, width, height } = await sharp(kittyImage(picture)).metadata();
      expect(format).toBe("png");
      expect(width! <= 320 && height! <= 240).toBe(true);
      for (const [, part] of picture.matchAll(/;([^;\x1b]*)\x1b\\/g))
        expect(part!.length).toBeLessThanOrEqual(4096);
    }
  });

  test("draw a PNG of a stated size in iTerm2, and Sixel in foot", async () => {
    const { cat, get } = await withProduct();
    const { stdout } = await cat(get, iterm);
    const [, size, width, data] =
      /\x1b]1337;File=inline=1;size=(\d+);width=(\d+)px;height=\d+px:(.*)\x07\n$/.exec(stdout)!;
    const png = Buffer.from(data!, "base64");
    expect([png.length, (await sharp(png).metadata()).width]).toEqual([Number(size), Number(width)]);
    expect((await cat(get, foot)).stdout).toMatch(/\x1bP[\d;]*q"1;1;\d+;\d+#[\s\S]*\x1b\\\n$/);
  });

  test.each([
    ["in a pipe", "", { env: kitty.env }],
    ["with stdout in a pipe", "", { env: kitty.env, tty: { stdin: true, stderr: true } }],
    ["with --json", "--json", kitty],
    ["with --format ndjson", "--format ndjson", kitty],
    ["with --format csv", "--format csv", kitty],
    ["with --fields", "--fields id", kitty],
    ["with --quiet", "--quiet", kitty],
    ["with --no-thumbnail", "--no-thumbnail", kitty],
    ["with CAT_THUMBNAILS=off", "", { env: { ...kitty.env, CAT_THUMBNAILS: "off" }, tty: true }],
    ["in another terminal", "", { env: { TERM: "xterm-256color" }, tty: true }],
  ])("draw nothing and fetch nothing %s", async (_, flags, call) => {
    const { cat, show, requests } = await withProduct();
    const { exit, stdout } = await cat(`${show} ${flags}`, { ...call, env: { ...call.env, NO_COLOR: "1" } });
    expect(exit).toBe(0);
    expect(stdout).not.toContain("\x1b");
    expect(requests()).toHaveLength(1);
  });

  test.each([
    ["that is missing", { status: 404 }],
    ["that is cut off", { truncate: 20 }],
    ["that the service keeps failing", { status: 500 }],
  ])("print the resource without a picture %s", async (_, fault) => {
    const { cat, show, mock } = await withProduct();
    const { stdout: plain } = await cat(show);
    const { host, pathname } = new URL(/^url +(\S+)/m.exec(plain)![1]!);
    expect(host).toBe(new URL(mock.baseUrl).host);
    const order = { match: { path: pathname.split("/").slice(0, 3).join("/") }, ...fault };
    await fetch(`${mock.baseUrl}/_mock/faults`, { method: "POST", body: JSON.stringify(order) });
    const ran = await cat(show, { ...kitty, env: { ...kitty.env, NO_COLOR: "1" } });
    expect(ran.exit).toBe(0);
    expect(ran.stdout.replace(/(?<=url +).*/, "")).toBe(plain.replace(/(?<=url +).*/, ""));
    const isAsked = mock.requests().some(({ path }) => path.startsWith(order.match.path));
    expect(isAsked).toBe(true);
  });

  /** A command that has requested a picture, which does not arrive for ten minutes. */
  async function withSlowPicture() {
    const { cat, show, mock, clock } = await withProduct();
    const order = { match: { path: "/_signed/images" }, delay_ms: 600_000 };
    await fetch(`${mock.baseUrl}/_mock/faults`, { method: "POST", body: JSON.stringify(order) });
    const running = cat(show, kitty);
    await until(() => mock.requests().some(({ path }) => path.startsWith(order.match.path)));
    return { running, clock };
  }

  test("end without a picture after 5 seconds", async () => {
    const { running, clock } = await withSlowPicture();
    clock.advance(5_000);
    const { exit, stdout, stderr } = await running;
    expect(stdout).toContain("created_at");
    expect({ exit, stderr, isDrawn: stdout.includes("\x1b_G") }).toEqual({
      exit: 0,
      stderr: "",
      isDrawn: false,
    });
  });

  test("exit with 130 on Ctrl-C while a picture is fetched", async () => {
    const { running } = await withSlowPicture();
    running.interrupt();
    expect(await running).toMatchObject({ exit: 130, stderr: "interrupted\n" });
  });
});

test("tasks watch draws the images of the first four tasks below their IDs", async () => {
  const world = await generateWorld();
  world.looks(
    ...["front", "back", "side"].map((angle) => `DRESS-1,Amara,studio,full-${angle}`),
    ...["front", "back"].map((angle) => `DRESS-1,Amara,studio,half-${angle}`),
  );
  await world.cat("tryon looks.csv --yes --no-wait");
  const { exit, stdout } = await world.cat("tasks watch", kitty);
  expect(exit).toBe(0);
  expect([...stdout.matchAll(/^\w{26}\n\x1b_Gf=100/gm)]).toHaveLength(4);
  expect((await world.cat("tasks watch", { env: kitty.env })).stdout).not.toContain("\x1b");
});

test.each([
  [{ TERM: "xterm-kitty" }, "kitty"],
  [{ TERM: "xterm-ghostty" }, "kitty"],
  [{ KITTY_WINDOW_ID: "1", TERM: "xterm-256color" }, "kitty"],
  [{ TERM_PROGRAM: "WezTerm", TERM: "xterm-256color" }, "iterm2"],
  [{ LC_TERMINAL: "iTerm2" }, "iterm2"],
  [{ KONSOLE_VERSION: "220401" }, "iterm2"],
  [{ KONSOLE_VERSION: "210401" }, null],
  [{ TERM: "foot-extra" }, "sixel"],
  [{ TERM: "mlterm" }, "sixel"],
  [{ TERM: "tmux-256color", KITTY_WINDOW_ID: "1" }, null],
  [{ TMUX: "/tmp/tmux", TERM: "xterm-kitty" }, null],
  [{ TERM: "dumb", TERM_PROGRAM: "iTerm.app" }, null],
  [{ TERM_PROGRAM: "Apple_Terminal" }, null],
  [{}, null],
] as const)("a terminal with %j draws %s", (env, graphics) => {
  expect(detectGraphics(env)).toBe(graphics);
});
