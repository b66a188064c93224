import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { OpenFile } from "../../src/open-file.ts";
import { longTest } from "../support/long-test.ts";
import { repetitions, sampled } from "../support/repetitions.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { until } from "../support/until.ts";
import { createWorld, type Running, type TestWorld } from "../support/world.ts";

/** The first line of output of a running `serve`. */
async function firstLine(running: Running, stream: "stdout" | "stderr"): Promise<string> {
  await until(() => running[stream].includes("\n"));
  return running[stream].split("\n")[0]!;
}

test("--json prints one line on stdout, with the base URL and the API key", async () => {
  const world = await createWorld();
  const running = world.cat("serve --mock --port 0 --demo 3 --json");
  const line = await firstLine(running, "stdout");
  const served = JSON.parse(line);
  expect(served).toEqual({
    base_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
    api_key: "ak_mock",
  });
  const env = { CAT_BASE_URL: served.base_url, CAT_API_KEY: served.api_key };
  const listed = await world.cat("products list --json", { env });
  expect(listed.stdout.trimEnd().split("\n")).toHaveLength(3);
  running.interrupt();
  expect(await running).toEqual({ exit: 130, stdout: `${line}\n`, stderr: "" });
});

test("cat serve prints commands to try on stderr, for people", async () => {
  const world = await createWorld();
  const running = world.cat("serve --mock --port 0");
  await firstLine(running, "stderr");
  running.interrupt("SIGTERM");
  const ran = await running;
  expect(ran).toMatchObject({ exit: 143, stdout: "" });
  const [, url] =
    /^Mock service running at (http:\S+) with API key ak_mock\. To stop it, press Ctrl-C\.$/m.exec(
      ran.stderr,
    )!;
  expect(ran.stderr).toContain(`export CAT_BASE_URL=${url} CAT_API_KEY=ak_mock\n`);
  expect(ran.stderr).toContain(`curl -H "Authorization: Bearer ak_mock" ${url}/v1/products\n`);
});

describe("the page of the mock", () => {
  test("is named below the first line, for people", async () => {
    const world = await createWorld();
    const running = world.cat("serve --mock --port 0");
    await until(() => running.stderr.includes("/_mock"));
    const [, url] = /^Requests, data and faults in a browser: (http:\S+\/_mock)$/m.exec(running.stderr)!;
    expect((await fetch(url!)).headers.get("content-type")).toBe("text/html; charset=utf-8");
    running.interrupt();
    await running;
  });

  test.skipIf(process.platform !== "linux")("is opened by --open, and stdout stays as it is", async () => {
    const world = await createWorld();
    const folder = temporaryFolder();
    writeFileSync(join(folder, "xdg-open"), `#!/bin/sh\necho "$@" > "${folder}/opened"\n`, { mode: 0o755 });
    const running = world.cat("serve --mock --port 0 --json --open", { env: { PATH: folder } });
    const { base_url } = JSON.parse(await firstLine(running, "stdout"));
    const opened = join(folder, "opened");
    await until(() => existsSync(opened) && readFileSync(opened, "utf8") === `${base_url}/_mock\n`, {
      pauseMs: 10,
    });
    running.interrupt();
    expect(await running).toEqual({
      exit: 130,
      stdout: `{"base_url":"${base_url}","api_key":"ak_mock"}\n`,
      stderr: "",
    });
  });

  test.skipIf(process.platform !== "linux")("is named in a warning if no browser can be opened", async () => {
    const world = await createWorld();
    const running = world.cat("serve --mock --port 0 --json --open", { env: { PATH: temporaryFolder() } });
    const { base_url } = JSON.parse(await firstLine(running, "stdout"));
    running.interrupt();
    expect(JSON.parse((await running).stderr)).toEqual({
      warning: { message: `cannot open a browser; open ${base_url}/_mock` },
    });
  });
});

test("--bodies keeps bodies and responses from the start", async () => {
  const world = await createWorld();
  const kept = async (flags: string) => {
    const running = world.cat(`serve --mock --port 0 --json ${flags}`);
    const { base_url } = JSON.parse(await firstLine(running, "stdout"));
    await fetch(`${base_url}/v1/products`, { method: "POST", body: "{}" });
    const [request] = (await (await fetch(`${base_url}/_mock/requests`)).json()) as {
      response?: { body: object };
    }[];
    running.interrupt();
    await running;
    return request!.response?.body;
  };
  expect(await kept("")).toBeUndefined();
  expect(await kept("--bodies")).toMatchObject({ content: expect.stringContaining("missing_api_key") });
});

test("--verbose prints a line of JSON per request on stderr with --json, without the signature of a file", async () => {
  const world = await createWorld();
  const running = world.cat("serve --mock --port 0 --demo 1 --seed 1 --json --verbose");
  const { base_url } = JSON.parse(await firstLine(running, "stdout"));
  const headers = { authorization: "Bearer ak_mock" };
  const response = await fetch(`${base_url}/v1/exports?role=source`, { headers });
  const { url } = JSON.parse(await response.text()).data[0].assets[0];
  await fetch(url, { method: "HEAD" });
  await fetch(`${base_url}/v1/products`, { method: "POST" });
  await fetch(`${base_url}/_mock/requests`);
  await until(() => running.stderr.split("\n").length === 4);
  running.interrupt();
  const { stderr, stdout } = await running;
  expect(stdout.split("\n")).toHaveLength(2);
  const path = new URL(url).pathname;
  const lines = stderr.split("\n").filter((line) => line !== "");
  const seen = lines.map((line) => JSON.parse(line).request);
  expect(seen.map(({ method, url, status }) => `${method} ${url} ${status}`)).toEqual([
    "GET /v1/exports?role=source 200",
    `HEAD ${path}?expires=${new URL(url).searchParams.get("expires")}&signature=… 200`,
    "POST /v1/products 401",
  ]);
});

test("an interrupt stops the mock", async () => {
  const world = await createWorld();
  const running = world.cat("serve --mock --port 0 --json");
  const { base_url } = JSON.parse(await firstLine(running, "stdout"));
  running.interrupt();
  await running;
  await expect(fetch(`${base_url}/v1/products`)).rejects.toThrow("fetch failed");
});

test("the same seed gives the same products", async () => {
  const world = await createWorld();
  const listOf = async (seed: number) => {
    const running = world.cat(`serve --mock --port 0 --demo 5 --json --seed ${seed}`);
    const { base_url } = JSON.parse(await firstLine(running, "stdout"));
    const { stdout } = await world.cat("products list --json", { env: { CAT_BASE_URL: base_url } });
    running.interrupt();
    await running;
    return stdout;
  };
  expect(await listOf(7)).toBe(await listOf(7));
  expect(await listOf(8)).not.toBe(await listOf(7));
});

describe("the rate limit", () => {
  const statuses = async (flags: string, count: number) => {
    const world = await createWorld();
    const running = world.cat(`serve --mock --port 0 --json ${flags}`);
    const { base_url } = JSON.parse(await firstLine(running, "stdout"));
    const headers = { authorization: "Bearer ak_mock" };
    const responses = [];
    for (let n = 0; n < count; n++) responses.push(await fetch(`${base_url}/v1/products`, { headers }));
    running.interrupt();
    await running;
    return responses.map((response) => response.status);
  };

  test("is set by --rate-limit", async () => {
    expect(await statuses("--rate-limit 2,1", 3)).toEqual([200, 200, 429]);
  });

  longTest("is removed by --no-rate-limit", async () => {
    expect(new Set(await statuses("--no-rate-limit", 620))).toEqual(new Set([200]));
  });
});

test.for(
  sampled(
    [
      ["no --mock", "serve", "serve requires --mock"],
      ["a port out of range", "serve --mock --port 65536", "use a whole number from 0 to 65535"],
      ["a port in words", "serve --mock --port http", "use a whole number from 0 to 65535"],
      ["a speed of 0", "serve --mock --speed 0", "use a number above 0"],
      ["a single limit", "serve --mock --rate-limit 5", "use two whole numbers above 0"],
      ["a limit of 0", "serve --mock --rate-limit 5,0", "use two whole numbers above 0"],
      ["a negative latency", "serve --mock --latency=-1", "use a whole number from 0 to 600000"],
      ["a fraction of a product", "serve --mock --demo 1.5", "use a whole number from 0 to 1000000"],
      ["more products than a million", "serve --mock --demo 1000001", "use a whole number from 0 to 1000000"],
      ["a command without --", "serve --mock npm test", "too many arguments: expected 0, got 2"],
      ["no command after --", "serve --mock --", "no command after --"],
      ["an empty command", "serve --mock -- ''", "no command after --"],
      ["a wildcard to allow", "serve --mock --allow-host '*'", "use an exact host name or address"],
      ["a domain to allow", "serve --mock --allow-host *.example.com", "use an exact host name or address"],
      ["a port to allow", "serve --mock --allow-host mock:4010", "without a port or a wildcard"],
      ["an empty base URL", "serve --mock --base-url ''", "the base URL is empty (from --base-url)"],
      ["a base URL with /v1", "serve --mock --base-url http://mock:4010/v1", "ends with the version"],
      ["a base URL with a password", "serve --mock --base-url http://a:b@mock", "a user name or password"],
      ["an empty host", "serve --mock --host ''", "use an address or a host name"],
      ["an empty name of the save file", "serve --mock --save ''", "--save is empty"],
      ["an empty name of the load file", "serve --mock --load ''", "--load is empty"],
      ["a save file in a missing folder", "serve --mock --save no/where.json", "its folder does not exist"],
      ["a save file that is a folder", "serve --mock --save .", "it is a folder"],
      [
        "the address of another machine",
        "serve --mock --port 0 --host 192.0.2.1",
        "not an address of this machine",
      ],
    ] as const,
    6,
  ),
)("cat serve exits with 2 for %s", async ([, line, why]) => {
  const world = await createWorld();
  const ran = await world.cat(line);
  expect(ran).toMatchObject({ exit: 2, stdout: "" });
  expect(ran.stderr).toContain(why);
  expect(ran.stderr.trimEnd().split("\n").length).toBeLessThanOrEqual(2);
});

test.each(sampled(["--rate-limit 5,5 --no-rate-limit", "--no-rate-limit --rate-limit 5,5"], 1))(
  "cat serve exits with 2 for a rate limit and no rate limit: %s",
  async (flags) => {
    const world = await createWorld();
    expect(await world.cat(`serve --mock --port 0 ${flags}`)).toEqual({
      exit: 2,
      stdout: "",
      stderr: "error: --rate-limit cannot be used with --no-rate-limit\nRemove one of them.\n",
    });
  },
);

test("a port in use gives a plain error and a next step", async () => {
  const world = await createWorld();
  const other = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => other.once("listening", resolve));
  const { port } = other.address() as { port: number };
  const ran = await world.cat(`serve --mock --port ${port}`);
  other.close();
  expect(ran).toEqual({
    exit: 2,
    stdout: "",
    stderr: `error: port ${port} on 127.0.0.1 is in use\nChoose another port with --port, or use --port 0 for a free one.\n`,
  });
});

test("cat serve warns about an address that other machines can reach", async () => {
  const world = await createWorld();
  const message =
    "the mock listens on 0.0.0.0: any machine that reaches this one can read and change its data, also with /_mock";
  for (const [flags, isWarned] of [
    ["--host 0.0.0.0", true],
    ["--host 0.0.0.0 --json", true],
    ["--host 0.0.0.0 --quiet --json", false],
    ["--host localhost", false],
    ["--host ::1 --json", false],
    ["--json", false],
  ] as const) {
    const running = world.cat(`serve --mock --port 0 ${flags}`);
    await firstLine(running, flags.includes("--json") ? "stdout" : "stderr");
    running.interrupt();
    const [first] = (await running).stderr.split("\n");
    const warning = flags.includes("--json")
      ? JSON.stringify({ warning: { message } })
      : `warning: ${message}`;
    expect(first === warning).toBe(isWarned);
  }
});

test("--base-url changes signed URLs and links only, and --allow-host opens /_mock and webhook URLs", async () => {
  const world = await createWorld();
  // CAT_BASE_URL is the address that clients use.
  const env = { CAT_BASE_URL: "http://127.0.0.1:9" };
  const running = world.cat(
    "serve --mock --port 0 --demo 1 --base-url http://mock:4010/ --allow-host Mock --allow-host app",
    { env },
  );
  await until(() => running.stderr.includes("/v1/products\n"));
  const [, url = ""] = /^Mock service running at (http:\/\/127\.0\.0\.1:\d+) with/m.exec(running.stderr)!;
  expect(running.stderr.startsWith("Signed URLs and links start with http://mock:4010.\n")).toBe(true);
  const headers = { authorization: "Bearer ak_mock", "content-type": "application/json" };
  const { servers } = (await (await fetch(`${url}/openapi.json`)).json()) as { servers: { url: string }[] };
  expect(servers[0]!.url).toBe("http://mock:4010");
  const webhook = async (host: string) => {
    const body = JSON.stringify({ url: `http://${host}:3000/`, events: ["import.completed"] });
    return (await fetch(`${url}/v1/webhooks`, { method: "POST", headers, body })).status;
  };
  expect([await webhook("app"), await webhook("mock"), await webhook("other")]).toEqual([201, 201, 400]);
  running.interrupt();
  expect((await running).exit).toBe(130);
});

describe("the state file", () => {
  const headers = { authorization: "Bearer ak_mock" };
  /** Serves with these flags, calls `use`, and interrupts the mock. */
  async function serve(
    world: TestWorld,
    flags: string,
    use: (baseUrl: string) => Promise<void> = async () => {},
    signal: "SIGINT" | "SIGTERM" = "SIGINT",
  ) {
    const running = world.cat(`serve --mock --port 0 --json ${flags}`);
    const { base_url } = JSON.parse(await firstLine(running, "stdout"));
    await use(base_url);
    running.interrupt(signal);
    return { baseUrl: base_url as string, ...(await running) };
  }
  const namesOf = async (baseUrl: string) => {
    const { data } = (await (await fetch(`${baseUrl}/v1/products`, { headers })).json()) as {
      data: { id: string; name: string }[];
    };
    return data.map(({ id, name }) => ({ id, name }));
  };

  test("restores the saved products and their IDs", async () => {
    const world = await createWorld();
    let before: unknown;
    const saved = await serve(world, "--seed 3 --demo 4 --save shop.json", async (baseUrl) => {
      const [first] = await namesOf(baseUrl);
      await fetch(`${baseUrl}/v1/products/${first!.id}`, { method: "DELETE", headers });
      before = await namesOf(baseUrl);
    });
    expect(saved).toMatchObject({ exit: 130, stderr: "" });
    const text = world.read("shop.json");
    expect(text.endsWith("\n}\n")).toBe(true);
    // One line per object, for people and for version control.
    expect(text.split("\n").filter((line) => line.startsWith('{"order":'))).toHaveLength(4);
    expect(JSON.parse(text)).toMatchObject({ version: 1, organizations: { main: { credits: null } } });
    expect(statSync(join(world.folder, "shop.json")).mode & 0o777).toBe(0o600);
    expect(readdirSync(world.folder)).toEqual(["shop.json"]);

    await serve(world, "--load shop.json", async (baseUrl) => {
      expect(await namesOf(baseUrl)).toEqual(before);
      // A reset restores the loaded state.
      const [first] = await namesOf(baseUrl);
      await fetch(`${baseUrl}/v1/products/${first!.id}`, { method: "DELETE", headers });
      expect((await fetch(`${baseUrl}/_mock/reset`, { method: "POST" })).status).toBe(200);
      expect(await namesOf(baseUrl)).toEqual(before);
    });
    // Without --save nothing is written.
    expect(world.read("shop.json")).toBe(text);
  });

  test.each(["SIGINT", "SIGTERM"] as const)("is saved on %s", async (signal) => {
    const world = await createWorld();
    const { exit } = await serve(world, "--demo 2 --save shop.json", undefined, signal);
    expect(exit).toBe(signal === "SIGTERM" ? 143 : 130);
    expect(JSON.parse(world.read("shop.json")).organizations.main.products).toHaveLength(2);
  });

  test("is created by the first run, with demo products, if --load and --save use the same file", async () => {
    const world = await createWorld();
    const flags = "--load shop.json --save shop.json --demo 2";
    const names: unknown[] = [];
    for (let run = 0; run < 3; run++) {
      await serve(world, flags, async (baseUrl) => {
        names.push(await namesOf(baseUrl));
      });
    }
    expect(names[0]).toHaveLength(2);
    expect(names[1]).toEqual(names[0]);
    expect(names[2]).toEqual(names[0]);
  });

  test("is written through a link, which stays a link", async () => {
    const world = await createWorld();
    mkdirSync(join(world.folder, "far"));
    symlinkSync("far/shop.json", join(world.folder, "shop.json"));
    await serve(world, "--load shop.json --save shop.json --demo 1");
    expect(JSON.parse(world.read("far/shop.json")).version).toBe(1);
    expect(readdirSync(world.folder).sort()).toEqual(["far", "shop.json"]);
    expect(readdirSync(join(world.folder, "far"))).toEqual(["shop.json"]);
  });

  test("makes the mock exit with 2 if it cannot be saved, and leaves the folder unchanged", async () => {
    const world = await createWorld();
    world.write("shop.json", "what was there");
    const running = world.cat("serve --mock --port 0 --json --save shop.json");
    await firstLine(running, "stdout");
    rmSync(join(world.folder, "shop.json"));
    mkdirSync(join(world.folder, "shop.json"));
    running.interrupt();
    const ran = await running;
    expect(ran.exit).toBe(2);
    expect(JSON.parse(ran.stderr).error).toEqual({
      type: "output",
      code: "file_not_writable",
      message: `cannot write ${join(world.folder, "shop.json")}: it is a folder. Choose another file.`,
      exit: 2,
    });
    expect(readdirSync(world.folder)).toEqual(["shop.json"]);
  });

  /** Holds back syncs to disk until `release`; `reached` resolves at the first one. */
  function holdSyncs() {
    let release!: () => void;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    let spy!: { mockRestore(): void };
    const reached = new Promise<void>((resolve) => {
      spy = vi.spyOn(OpenFile.prototype, "sync").mockImplementation(() => {
        resolve();
        return released;
      });
    });
    onTestFinished(() => spy.mockRestore());
    return { reached, release };
  }

  test.each([
    ["", "interrupted before the state was saved to shop.json\n"],
    [
      "--json",
      '{"error":{"type":"interrupted","code":"SIGTERM","message":"interrupted before the state was saved to shop.json","exit":143}}\n',
    ],
  ])(
    "is given up 5 s after a second interrupt, which is reported and leaves no temporary file: %j",
    async (flags, report) => {
      const world = await createWorld();
      world.write("shop.json", "what was there");
      const { reached, release } = holdSyncs();
      const running = world.cat(`serve --mock --port 0 --save shop.json ${flags}`);
      await firstLine(running, flags === "" ? "stderr" : "stdout");
      const greeting = running.stderr;
      running.interrupt();
      await reached;
      expect(readdirSync(world.folder)).toEqual([
        expect.stringMatching(/^\.[0-9a-f]{12}-4711-\w+\.part$/),
        "shop.json",
      ]);
      running.interrupt("SIGTERM");
      world.clock.advance(4_999);
      await new Promise(setImmediate);
      expect(running.stderr.slice(greeting.length)).toBe("");
      world.clock.advance(1);
      await until(() => running.stderr.length > greeting.length);
      expect(running.stderr.slice(greeting.length)).toBe(report);
      expect(readdirSync(world.folder)).toEqual(["shop.json"]);
      expect(world.read("shop.json")).toBe("what was there");
      release();
      await running;
    },
  );

  test("is saved although a second interrupt comes while it is written", async () => {
    const world = await createWorld();
    const { reached, release } = await holdSyncs();
    const running = world.cat("serve --mock --port 0 --save shop.json --json");
    await firstLine(running, "stdout");
    running.interrupt();
    await reached;
    running.interrupt("SIGTERM");
    release();
    expect(await running).toMatchObject({ exit: 130, stderr: "" });
    expect(readdirSync(world.folder)).toEqual(["shop.json"]);
    expect(JSON.parse(world.read("shop.json"))).toHaveProperty("organizations");
  });

  test("a second interrupt after the save, or without --save, prints nothing", async () => {
    for (const [flags, place] of [
      ["--save shop.json", "shop.json"],
      ["", null],
    ] as const) {
      const world = await createWorld();
      const running = world.cat(`serve --mock --port 0 --json ${flags}`);
      await firstLine(running, "stdout");
      running.interrupt();
      await until(() => place === null || readdirSync(world.folder).includes(place));
      running.interrupt();
      expect(await running).toMatchObject({ exit: 130, stderr: "" });
      expect(readdirSync(world.folder)).toEqual(place === null ? [] : [place]);
    }
  });

  test("only temporary files of killed saves are removed by the next save", async () => {
    const world = await createWorld();
    const start = `.${createHash("sha256").update("shop.json").digest("hex").slice(0, 12)}`;
    for (const name of [`${start}-99-a1.part`, `${start}-4711-zzz.part`])
      world.write(`far/${name}`, "a state");
    const others = [`${start}-1-a1.part`, `${start}-99.part`, ".import-99-a1.part"];
    for (const name of others) world.write(`far/${name}`, "a state");
    symlinkSync("far/shop.json", join(world.folder, "shop.json"));
    expect((await serve(world, "--save shop.json")).stderr).toBe("");
    expect(readdirSync(join(world.folder, "far")).sort()).toEqual([...others, "shop.json"].sort());
  });

  describe("belongs to one sandbox at a time", () => {
    const flags = "--load shop.json --save shop.json";

    test("a second one exits with 2 and names the address of the first, whatever the flags", async () => {
      const world = await createWorld();
      const first = world.cat(`serve --mock --port 0 --json ${flags} --demo 2`);
      const { base_url } = JSON.parse(await firstLine(first, "stdout"));
      for (const second of [
        flags,
        "--save shop.json",
        "--load ./shop.json",
        `--save ${world.folder}/shop.json`,
      ])
        expect(await world.cat(`serve --mock --port 0 ${second}`), second).toEqual({
          exit: 2,
          stdout: "",
          stderr: expect.stringMatching(
            `^error: a sandbox is already running in this folder at ${base_url}: use it\nSet CAT_BASE_URL=${base_url}, or choose another file than .*shop.json.\n$`,
          ),
        });
      // Another file is another sandbox.
      expect((await serve(world, "--save other.json")).exit).toBe(130);
      first.interrupt();
      expect(await first).toMatchObject({ exit: 130, stderr: "" });
      expect(JSON.parse(world.read("shop.json")).organizations.main.products).toHaveLength(2);
      expect(readdirSync(world.folder).sort()).toEqual(["other.json", "shop.json"]);
      // The next one continues it.
      expect(await serve(world, flags)).toMatchObject({ exit: 130, stderr: "" });
    });

    test("also where the file is in another folder, or the program is one of the sandbox", async () => {
      const world = await createWorld();
      mkdirSync(join(world.folder, "far"));
      const first = world.cat("serve --mock --port 0 --json --save far/shop.json");
      const { base_url } = JSON.parse(await firstLine(first, "stdout"));
      const second = await world.cat("serve --mock --load far/shop.json --save far/shop.json -- true");
      expect(second.stderr).toContain(
        `error: a sandbox is already running with far/shop.json at ${base_url}: use it\n`,
      );
      first.interrupt();
      await first;
    });

    test("any number may load a file that none of them saves", async () => {
      const world = await createWorld();
      await serve(world, "--demo 1 --save shop.json");
      const all = [1, 2, 3].map(() => world.cat("serve --mock --port 0 --json --load shop.json"));
      for (const one of all) await firstLine(one, "stdout");
      for (const one of all) one.interrupt();
      expect(await Promise.all(all)).toEqual(
        all.map(() => expect.objectContaining({ exit: 130, stderr: "" })),
      );
    });
  });

  describe("is written only if it is the one that was loaded", () => {
    const moved = (why: string, number = 2) =>
      `warning: shop.json ${why}, and stays: the state is saved to shop.${number}.json\nTo continue it: cat serve --mock --load shop.${number}.json --save shop.${number}.json\n`;

    test("a state that was not loaded stays, and the new one has the next number", async () => {
      const world = await createWorld();
      await serve(world, "--demo 3 --save shop.json");
      const first = world.read("shop.json");
      const running = world.cat("serve --mock --port 0 --save shop.json");
      await firstLine(running, "stderr");
      await until(() => running.stderr.includes("is not loaded"));
      const greeting = running.stderr;
      expect(greeting).toContain(
        "shop.json is not loaded: the state will be saved to shop.2.json. To continue shop.json, add --load shop.json; to replace it, --yes.",
      );
      running.interrupt();
      expect((await running).stderr.slice(greeting.length)).toBe(moved("was not loaded"));
      await serve(world, "--save shop.json");
      expect(world.read("shop.json")).toBe(first);
      expect(readdirSync(world.folder).sort()).toEqual(["shop.2.json", "shop.3.json", "shop.json"]);
      await serve(world, "--save shop.json --yes");
      expect(JSON.parse(world.read("shop.json")).organizations.main.products).toEqual([]);
    });

    test("a file that changed while the sandbox was running stays", async () => {
      const world = await createWorld();
      const flags = "--load shop.json --save shop.json --demo 1";
      const ran = await serve(world, flags, async () => {
        world.write("shop.json", "of another program");
      });
      expect(world.read("shop.json")).toBe("of another program");
      expect(JSON.parse(ran.stderr)).toMatchObject({
        warning: { message: expect.stringContaining("the state is saved to shop.2.json") },
      });
      expect(JSON.parse(world.read("shop.2.json")).organizations.main.products).toHaveLength(1);
    });

    test("a file that was removed meanwhile is written again", async () => {
      const world = await createWorld();
      await serve(world, "--save shop.json");
      const flags = "--load shop.json --save shop.json";
      await serve(world, flags, async () => {
        rmSync(join(world.folder, "shop.json"));
      });
      expect(readdirSync(world.folder)).toEqual(["shop.json"]);
    });

    test("no order of starts, kills and stops loses a state that was saved", async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(
            fc.record({ loads: fc.boolean(), other: fc.boolean(), demo: fc.integer({ min: 0, max: 3 }) }),
            { minLength: 2, maxLength: 5 },
          ),
          async (runs) => {
            const world = await createWorld();
            const contents = new Set<string>();
            for (const { loads, other, demo } of runs) {
              const flags = `${loads ? "--load shop.json " : ""}--save shop.json --demo ${loads ? 0 : demo}`;
              if (loads && !existsSync(join(world.folder, "shop.json"))) continue;
              await serve(world, flags, async () => {
                if (!other) return;
                if (existsSync(join(world.folder, "shop.json"))) contents.delete(world.read("shop.json"));
                world.write("shop.json", JSON.stringify(world.mock.state()));
              });
              // What was there is still there, unless this run had loaded it.
              if (loads && !other) contents.clear();
              const now = readdirSync(world.folder).map((name) => world.read(name));
              for (const content of contents) expect(now).toContain(content);
              for (const content of now) contents.add(content);
            }
          },
        ),
        { numRuns: repetitions(4, 60) },
      );
    });
  });

  const foreign = "shop.json is not a state of the mock service: ";
  test.for(
    sampled(
      [
        ["is missing", null, "file not found: shop.json"],
        ["is empty", "", "shop.json is not valid JSON: Unexpected end of JSON input"],
        [
          "was cut",
          '{\n"version": 1,\n"now": "2026',
          "shop.json is not valid JSON: Unterminated string in JSON at position 28",
        ],
        ["was cut between two fields", '{\n"version": 1,\n', "shop.json is not valid JSON: "],
        [
          "has a typing mistake",
          '{\n"version": 1,\n"now": oops\n}\n',
          "shop.json is not valid JSON: Unexpected token",
        ],
        ["is a table", "reference,name\nA,B\n", "shop.json is not valid JSON: Unexpected token"],
        ["belongs to another program", '{"a":1}', `${foreign}version: `],
        ["is a list", "[]", `${foreign}the state must be an object`],
        ["has another version", '{"version":2}', `${foreign}version: `],
        ["has an empty secret", { secret: "" }, `${foreign}secret: `],
        ["has an unknown field", { more: 1 }, `${foreign}unknown field more`],
      ] as const,
      4,
    ),
  )("a file that %s is rejected", async ([, content, why]) => {
    const world = await createWorld();
    if (typeof content === "string") world.write("shop.json", content);
    else if (content !== null) {
      world.write("shop.json", JSON.stringify({ ...world.mock.state(), ...content }));
    }
    const ran = await world.cat("serve --mock --port 0 --load shop.json");
    expect(ran).toMatchObject({ exit: content === null ? 2 : 3, stdout: "" });
    expect(ran.stderr).toContain(`error: ${why}`);
    expect(ran.stderr.trimEnd().split("\n")).toHaveLength(2);
    // The rejected file is not overwritten.
    const both = await world.cat("serve --mock --port 0 --load shop.json --save other.json");
    expect(both.exit).toBe(content === null ? 2 : 3);
    expect(readdirSync(world.folder)).toEqual(content === null ? [] : ["shop.json"]);
  });
});
