import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { execa } from "execa";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { startMock } from "../../src/mock/index.ts";
import { listedCommands } from "../support/listed-commands.ts";
import { isLong, repetitions } from "../support/repetitions.ts";
import { catProgram, needsBuild } from "../support/spawn-cat.ts";
import { createWorld } from "../support/world.ts";

beforeEach(needsBuild);

const hasScript = (await execa("script", ["--version"], { reject: false })).exitCode === 0;

/** The IDs of a service with one resource of each kind. */
interface Ids {
  readonly import: string;
  readonly task: string;
  readonly export: string;
  readonly image: string;
  readonly webhook: string;
}

/** A command line of the shell, without `cat`, and what it does on a terminal and in a pipe. */
interface Scenario {
  readonly line: (ids: Ids) => string;
  readonly exit: number;
  /** A part of what the terminal shows; without `out`, stdout and stderr of the pipe have it too. */
  readonly shown: RegExp;
  /** A part of stdout and stderr in a pipe. */
  readonly out?: RegExp;
  /** Keys that are typed once the terminal shows the text. */
  readonly typed?: readonly [after: string, keys: string];
  /** The line and the status in a pipe, if they differ. */
  readonly piped?: { readonly line?: string; readonly exit: number };
}

const list = (shown: RegExp): Omit<Scenario, "line"> => ({ exit: 0, shown });
const line = (text: string) => () => text;
const id = "01KE6W9ZJ8Q3V5X7B2D4F6H8JK";

/** One for each command, in an order in which they share a service; and others for further exit statuses. */
const scenarios: Readonly<Record<string, Scenario>> = {
  import: { line: line("import a.csv"), exit: 8, shown: /Imported 1 of 2 rows from a\.csv/ },
  "imports list": { line: line("imports list"), ...list(/a\.csv/) },
  "imports get": { line: (ids) => `imports get ${ids.import}`, ...list(/status +.*completed/) },
  "imports watch": {
    line: (ids) => `imports watch ${ids.import} --timeout 30s`,
    ...list(/status +.*completed/),
  },
  "imports rows": { line: (ids) => `imports rows ${ids.import}`, ...list(/A-1/) },
  "imports undo": { line: line("imports undo nope"), exit: 5, shown: /error: no import with the run "nope"/ },
  tryon: {
    // A poll, five seconds later, would wait for the image.
    line: line(repetitions("tryon looks.csv --no-wait", "tryon looks.csv --save images")),
    exit: 0,
    shown: repetitions(
      /Generate 1 image.*Queued 1 image/s,
      /Generate 1 image.*Generated 1 image of looks\.csv/s,
    ),
    typed: ["(y/N)", "y\r"],
    out: /--yes/,
    piped: { exit: 2 },
  },
  beautify: {
    line: line("beautify --product A-1 --subtype clothing --background white --angle front --yes"),
    ...list(/Generated 1 image/),
  },
  "tasks list": { line: line("tasks list"), ...list(/succeeded/) },
  "tasks get": { line: (ids) => `tasks get ${ids.task}`, ...list(/status +.*succeeded/) },
  "tasks watch": { line: (ids) => `tasks watch ${ids.task}`, ...list(/succeeded/) },
  "tasks save": { line: (ids) => `tasks save ${ids.task} --save saved`, ...list(/Saved 1 image/) },
  "tasks review": { line: line("tasks review decisions.csv"), ...list(/Recorded 1 decision/) },
  export: { line: line("export"), ...list(/"reference":"A-1"/) },
  "export sync": { line: line("export sync mirror"), ...list(/Mirrored \d+ images in mirror/) },
  "exports list": { line: line("exports list"), exit: 0, shown: /No exports/ },
  "exports get": { line: (ids) => `exports get ${ids.export}`, ...list(/status +.*completed/) },
  "exports watch": { line: (ids) => `exports watch ${ids.export}`, ...list(/status +.*completed/) },
  "exports download": { line: (ids) => `exports download ${ids.export}`, ...list(/Saved .*\.jsonl/) },
  "runs list": { line: line("runs list"), ...list(/import +/) },
  "runs get": { line: line("runs get last"), ...list(/kind +/) },
  "products list": { line: line("products list"), ...list(/A-1 +.*Dress/) },
  "products get": { line: line("products get A-1"), ...list(/reference +.*A-1/) },
  "products export": { line: line("products export -"), ...list(/A-1,Dress/) },
  "products coverage": { line: line("products coverage"), ...list(/A-1 +.*Dress/) },
  "products create": {
    line: line("products create --reference A-1 --name Coat --image photo.png"),
    exit: 6,
    shown: /error: .*409/,
  },
  "products update": { line: line("products update A-1 --name Robe"), ...list(/name +.*Robe/) },
  "products attach": { line: line("products attach A-1 photo.png:front"), ...list(/front/) },
  "products detach": { line: (ids) => `products detach A-1 ${ids.image} --yes`, exit: 0, shown: /(?:)/ },
  "products delete": {
    line: line("products delete A-1"),
    exit: 0,
    shown: /A-1 \((?:Robe|Dress)\).*Delete 1 product\?.*Deleted 1 product\./s,
    typed: ["(y/N)", "y\r"],
    out: /--yes/,
    piped: { exit: 2 },
  },
  "images get": { line: line(`images get ${id}`), exit: 5, shown: /error: .*404/ },
  "images upload": { line: line("images upload photo.png"), ...list(/image\/png/) },
  "models get": { line: line("models get Nobody"), exit: 5, shown: /error: .*Nobody/ },
  "models list": { line: line("models list --limit 0"), exit: 2, shown: /error: invalid --limit "0"/ },
  "webhooks list": { line: line("webhooks list"), ...list(/hooks\.example\.com/) },
  "webhooks get": { line: (ids) => `webhooks get ${ids.webhook}`, ...list(/hooks\.example\.com/) },
  "webhooks create": {
    line: line("webhooks create --url https://hooks.example.com/b --events all"),
    ...list(/signing_secret +.*whsec_\w/),
  },
  "webhooks update": {
    line: (ids) => `webhooks update ${ids.webhook} --status paused`,
    ...list(/status +.*paused/),
  },
  "webhooks rotate": {
    line: (ids) => `webhooks rotate ${ids.webhook} --yes`,
    ...list(/signing_secret +.*whsec_\w/),
  },
  "webhooks delete": { line: (ids) => `webhooks delete ${ids.webhook} --yes`, ...list(/Deleted webhook/) },
  "webhooks listen": {
    line: line("webhooks listen --port 0"),
    exit: 0,
    shown: /127\.0\.0\.1/,
    typed: ["127.0.0.1", "\x03"],
    out: /Listening on/,
    piped: { line: "webhooks listen --port 0 -- true", exit: 0 },
  },
  "webhooks replay": {
    line: line("webhooks replay evt_none --to http://127.0.0.1:9/"),
    exit: 5,
    shown: /the log does not have evt_none/,
  },
  "webhooks trigger": {
    line: line("webhooks trigger task.succeeded --to http://127.0.0.1:9/"),
    exit: 7,
    shown: /The handler cannot be reached/,
  },
  "webhooks verify": {
    line: line("webhooks verify --header t=1,v1=00 --file a.csv"),
    exit: 3,
    shown: /error: invalid signature/,
  },
  serve: {
    line: line("serve --mock --port 0"),
    exit: 130,
    shown: /Mock service running at/,
    typed: ["Ctrl-C", "\x03"],
    piped: { line: "serve --mock --port 0 --json", exit: 143 },
    out: /"base_url"/,
  },
  api: { line: line("api GET /models --query limit=1"), ...list(/"data":/) },
  login: {
    line: line("login --profile ci --store file"),
    exit: 4,
    shown: /API key.*error: /s,
    typed: ["not shown", "ak_wrong_key\r"],
    out: /--with-key/,
    piped: { exit: 2 },
  },
  logout: { line: line("logout"), ...list(/no stored key/) },
  whoami: { line: line("whoami"), ...list(/profile +.*default/) },
  doctor: { line: line("doctor"), ...list(/service|network/i) },
  "config list": { line: line("config list"), exit: 0, shown: /(?:)/ },
  "config set": { line: line("config set label staging"), ...list(/Set label of profile default\./) },
  "config get": { line: line("config get label"), ...list(/staging/) },
  "config unset": { line: line("config unset label"), ...list(/Removed label/) },
  "config path": { line: line("config path"), ...list(/config\.json/) },
  "config mapping": { line: line("config mapping"), exit: 0, shown: /(?:)/ },
  commands: { line: line("commands"), ...list(/cat products list/) },
  mcp: {
    line: line("mcp"),
    exit: 0,
    shown: /Waiting for the program of an agent/,
    typed: ["Ctrl-C", "\x03"],
    out: /(?:)/,
  },
  completion: { line: line("completion bash"), ...list(/catalogue __complete/) },
};

/** A process per command takes a minute in all: `npm test` runs those that ask, or that end in other than 0. */
const walked = Object.entries(scenarios).filter(
  ([, { exit, typed }]) => repetitions(0, 1) === 1 || exit !== 0 || typed !== undefined,
);

test("each command has a scenario, and each exit status but that of an internal error", async () => {
  const { commands, exit_statuses } = await listedCommands();
  expect(Object.keys(scenarios).sort()).toEqual(commands.map(({ name }) => name).sort());
  const exits = Object.values(scenarios).flatMap(({ exit, piped }) => [exit, piped?.exit ?? exit]);
  // test/cli/every-command crashes each command; a closed terminal is in test/bin/serve.test.ts, a plan with changes in
  // test/cli/import/plan.test.ts.
  const others = exit_statuses.map(({ status }) => status).filter((status) => ![1, 9, 129].includes(status));
  expect([...new Set(exits)].sort((one, other) => one - other)).toEqual(others);
});

/** A folder, and a service with one resource of each kind that works without waits. */
async function machine() {
  const world = await createWorld();
  const mock = await startMock({ speed: 1000, rateLimit: false });
  onTestFinished(() => mock.stop());
  const url = "https://cdn.example.com";
  world.write("seed.csv", `reference,name,images\nA-1,Dress,${url}/1.jpg|${url}/2.jpg\n`);
  world.write("a.csv", `reference,name,images\nB-1,Dress,${url}/1.jpg\nB-2,Coat,${url}/fail-timeout.jpg\n`);
  world.write("looks.csv", "product_reference,model_id,background,angle_shot\nA-1,Amara,studio,full-front\n");
  world.write(
    "photo.png",
    Buffer.from(
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
      "base64",
    ),
  );
  const seed = { CAT_BASE_URL: mock.baseUrl, CAT_HOME: join(world.folder, ".seed") };
  const json = async (text: string) =>
    JSON.parse((await world.cat(text, { env: seed })).stdout.split("\n")[0]!);
  const imported = await json("import seed.csv --json");
  const tried = await json(
    "beautify --product A-1 --subtype clothing --background white --angle front --yes --json",
  );
  world.write("decisions.csv", `task_id,decision,note\n${tried.tasks[0].id},approve,\n`);
  const exported = await json("export --manifest --out m.jsonl --json");
  const webhook = await json("webhooks create --url https://hooks.example.com/a --events all --json");
  const product = await json("products get A-1 --json");
  const ids: Ids = {
    import: imported.imports[0].id,
    task: tried.tasks[0].id,
    export: exported.jobs[0].id,
    image: product.images[0].id,
    webhook: webhook.id,
  };
  const env = {
    ...{
      PATH: `${dirname(process.execPath)}:/usr/bin:/bin`,
      CAT_BASE_URL: mock.baseUrl,
      CAT_API_KEY: mock.apiKey,
      CAT_WEBHOOK_SECRET: "whsec_of_test",
      SHELL: "/bin/bash",
    },
    ...{ CAT_HOME: join(world.folder, ".home"), HOME: world.folder, TERM: "xterm", LC_ALL: "C.UTF-8" },
  };
  return { ids, env, cwd: world.folder, read: world.read };
}

const mark = (name: string) => `@@ ${name} @@`;

test.runIf(isLong && !!hasScript)("each command works on a terminal", async () => {
  const { ids, env, cwd } = await machine();
  // A shell that outlives Ctrl-C; a command gets the signal itself.
  const lines = walked.map(
    ([name, { line }]) => `echo '${mark(name)}'; ${catProgram} ${line(ids)}; echo "@exit $?"`,
  );
  writeFileSync(join(cwd, "lines.sh"), ["trap : INT", "stty cols 120 rows 40", ...lines].join("\n"));
  const child = execa("script", ["-qec", "bash lines.sh", "/dev/null"], {
    cwd,
    env,
    extendEnv: false,
    reject: false,
    stdin: "pipe",
    // A question that is not answered would wait forever.
    timeout: 250_000,
  });
  let text = "";
  const waiting = walked.flatMap(([name, { typed }]) =>
    typed === undefined ? [] : [[name, typed] as const],
  );
  child.stdout!.on("data", (bytes: Buffer) => {
    text += bytes.toString();
    const [next] = waiting;
    if (next === undefined || !(text.split(mark(next[0]))[1] ?? "").includes(next[1][0])) return;
    waiting.shift();
    child.stdin!.write(next[1][1]);
  });
  await child;
  const found = walked.flatMap(([name, { exit, shown }]) => {
    const [part = ""] = (text.split(`${mark(name)}`)[1] ?? "").split("@@ ");
    const plain = part.replaceAll(/\x1b\[[?\d;]*[A-Za-z]|\x1b[78=>]|\r/g, "");
    const status = Number(/@exit (\d+)/.exec(plain)?.[1]);
    return status === exit && shown.test(plain) ? [] : [[name, status, plain]];
  });
  expect(found).toEqual([]);
});

// On a terminal every command runs as well.
test.runIf(isLong)(
  "each command works in a pipe, without a question and without an escape sequence",
  async () => {
    const { ids, env, cwd, read } = await machine();
    const lines = walked.map(([, { line, piped }], at) => {
      const run = `${catProgram} ${piped?.line ?? line(ids)} < /dev/null > out.${at} 2> err.${at}`;
      return piped?.exit === 143
        ? `${run} & while ! [ -s out.${at} ]; do sleep 0.02; done; kill $!; wait $!; echo $? > exit.${at}`
        : `${run}; echo $? > exit.${at}`;
    });
    writeFileSync(join(cwd, "lines.sh"), lines.join("\n"));
    await execa("bash", ["lines.sh"], { cwd, env, extendEnv: false, stdin: "ignore" });
    const found = walked.flatMap(([name, { exit, shown, out = shown, piped }], at) => {
      const text = read(`out.${at}`) + read(`err.${at}`);
      const status = Number(read(`exit.${at}`));
      return status === (piped?.exit ?? exit) && out.test(text) && !text.includes("\x1b")
        ? []
        : [[name, status, text]];
    });
    expect(found).toEqual([]);
  },
);
