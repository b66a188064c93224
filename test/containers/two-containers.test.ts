import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { longTest } from "../support/long-test.ts";
import { catProgram, needsBuild } from "../support/spawn-cat.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { until } from "../support/until.ts";

/** The two containers of docs/containers.md and their addresses in a network of their own. */
const addresses = { mock: "10.77.25.1", app: "10.77.25.2" };
type Name = keyof typeof addresses;

const ip = (...args: string[]) => spawnSync("ip", args, { encoding: "utf8" });

/** Why this machine cannot play two containers; null if it can. */
function obstacle(): string | null {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return "needs Linux and root";
  for (const program of ["ip", "unshare", "mount"])
    if (
      spawnSync(program, ["--version"]).error !== undefined &&
      spawnSync(program, ["-V"]).error !== undefined
    )
      return `needs ${program}`;
  const probe = `cat${process.pid}probe`;
  const { status, stderr } = ip("netns", "add", probe);
  if (status !== 0) return `cannot create a network namespace: ${stderr.trim()}`;
  ip("netns", "del", probe);
  return null;
}

/** Two network namespaces with a cable between them, and hosts files with both names. Removed after the test. */
function connect() {
  const folder = temporaryFolder();
  const space = (name: Name) => `cat${process.pid}${name}`;
  onTestFinished(() => {
    for (const name of ["mock", "app"] as const) ip("netns", "del", space(name));
  });
  const must = (...args: string[]) => {
    const { status, stderr } = ip(...args);
    if (status !== 0) throw new Error(`ip ${args.join(" ")}: ${stderr}`);
  };
  for (const name of ["mock", "app"] as const) must("netns", "add", space(name));
  must(
    "link",
    "add",
    "eth0",
    "netns",
    space("mock"),
    "type",
    "veth",
    "peer",
    "name",
    "eth0",
    "netns",
    space("app"),
  );
  for (const [name, address] of Object.entries(addresses) as [Name, string][]) {
    must("-n", space(name), "link", "set", "lo", "up");
    must("-n", space(name), "addr", "add", `${address}/24`, "dev", "eth0");
    must("-n", space(name), "link", "set", "eth0", "up");
  }
  const hosts = join(folder, "hosts");
  const named = Object.entries(addresses).map(([name, address]) => `${address} ${name}\n`);
  writeFileSync(hosts, ["127.0.0.1 localhost\n", ...named].join(""));

  /** Starts a Node program in one of them. */
  const start = (name: Name, args: readonly string[], env: Record<string, string> = {}) => {
    // The hosts file is mounted for this process only.
    const script = `mount --bind "$0" /etc/hosts && exec "$@"`;
    const inside = ["netns", "exec", space(name), "unshare", "--mount", "sh", "-c", script, hosts];
    const child: ChildProcess = spawn("ip", [...inside, process.execPath, ...args], {
      cwd: folder,
      env: { PATH: process.env.PATH ?? "", CAT_HOME: join(folder, `${name}-home`), ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    const printed = { stdout: "", stderr: "" };
    for (const stream of ["stdout", "stderr"] as const)
      child[stream]!.on("data", (text) => {
        printed[stream] += text;
      });
    const done = once(child, "close").then(([exit]) => ({ exit: exit as number, ...printed }));
    return { child, printed, done };
  };
  return { folder, start };
}

/** What a program in the other container gets from /_mock. */
const askControl = `
  const statuses = [];
  for (const host of process.argv.slice(1)) statuses.push((await fetch("http://" + host + ":4010/_mock/requests")).status);
  console.log(JSON.stringify(statuses));
`;

longTest(
  "a client in another container imports, receives the event, and follows signed URLs",
  async ({ skip }) => {
    const why = obstacle();
    if (why !== null) skip(why);
    needsBuild();
    const { folder, start } = connect();
    const serve = ["serve", "--mock", "--host", "0.0.0.0", "--speed", "1000", "--json"];
    const names = ["--base-url", "http://mock:4010", "--allow-host", "mock", "--allow-host", "app"];
    const mock = start("mock", [catProgram, ...serve, ...names]);
    await until(() => mock.printed.stdout.includes("\n"), { pauseMs: 10, seen: () => mock.printed.stderr });
    expect(mock.printed.stderr).toContain("the mock listens on 0.0.0.0");

    const env = {
      CAT_BASE_URL: "http://mock:4010",
      CAT_API_KEY: "ak_mock",
      CAT_INSECURE_HTTP_HOSTS: "mock",
    };
    const cat = (...args: string[]) => start("app", [catProgram, ...args], env);
    const address = ["--host", "0.0.0.0", "--public-url", "http://app:4242/hooks"];
    const listener = cat(
      "webhooks",
      "listen",
      ...address,
      "--wait",
      "import.completed",
      "--timeout",
      "60s",
      "--json",
    );
    await until(() => listener.printed.stdout.includes("\n"), {
      pauseMs: 10,
      seen: () => listener.printed.stderr,
    });

    writeFileSync(join(folder, "a.csv"), "reference,name,images\nA-1,Dress,https://cdn.example.com/a.jpg\n");
    const imported = await cat("import", "a.csv", "--no-progress").done;
    expect(imported.exit).toBe(0);
    expect(imported.stderr).toContain(
      "The API key is sent unencrypted to http://mock:4010, because CAT_INSECURE_HTTP_HOSTS names this host.\n",
    );
    const heard = await listener.done;
    expect(heard.exit).toBe(0);
    expect(JSON.parse(heard.stdout.trim().split("\n")[1]!)).toMatchObject({ type: "import.completed" });

    const listed = await cat("products", "list", "--format", "csv", "--fields", "images.0.id").done;
    const saved = await cat(
      "images",
      "get",
      listed.stdout.trim().split("\n")[1]!,
      "--save",
      "a.jpg",
      "--json",
    ).done;
    expect([saved.exit, saved.stderr]).toEqual([0, ""]);
    expect(JSON.parse(saved.stdout).url).toMatch(/^http:\/\/mock:4010\/_signed\//);
    expect(readFileSync(join(folder, "a.jpg")).length).toBeGreaterThan(1_000);

    // By a name that was not allowed, also if it is the mock's own address.
    const asked = start("app", ["--input-type=module", "-e", askControl, "mock", addresses.mock]);
    expect(await asked.done).toEqual({ exit: 0, stdout: "[200,403]\n", stderr: "" });

    mock.child.kill("SIGTERM");
    expect((await mock.done).exit).toBe(143);
  },
);

longTest("without the flags, the client gets links to its own container, and no events", async ({ skip }) => {
  const why = obstacle();
  if (why !== null) skip(why);
  needsBuild();
  const { start } = connect();
  const mock = start("mock", [catProgram, "serve", "--mock", "--host", "0.0.0.0", "--demo", "1", "--json"]);
  await until(() => mock.printed.stdout.includes("\n"), { pauseMs: 10, seen: () => mock.printed.stderr });
  const asked = start("app", [
    "--input-type=module",
    "-e",
    `const headers = { Authorization: "Bearer ak_mock", "Content-Type": "application/json" };
     const call = async (path, body) =>
       (await fetch("http://mock:4010" + path, { headers, method: body ? "POST" : "GET", body })).json();
     const { data: [{ images: [{ id }] }] } = await call("/v1/products");
     const { url } = await call("/v1/images/" + id);
     const hook = { url: "http://app:4242/", events: ["import.completed"] };
     const { error } = await call("/v1/webhooks", JSON.stringify(hook));
     const control = await call("/_mock/requests");
     console.log(JSON.stringify([new URL(url).origin, error.param, control.error.code]));`,
  ]);
  expect(await asked.done).toEqual({
    exit: 0,
    stdout: '["http://127.0.0.1:4010","url","host_not_allowed"]\n',
    stderr: "",
  });
});
