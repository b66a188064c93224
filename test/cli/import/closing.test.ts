import { execFileSync, spawn } from "node:child_process";
import {
  closeSync,
  existsSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
} from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { nowBatchesOf } from "../../flows/import/batch-rows.ts";
import { tinyPng } from "../../mock/world.ts";
import { longTest } from "../../support/long-test.ts";
import { repetitions, sampled } from "../../support/repetitions.ts";
import { until } from "../../support/until.ts";
import { createWorld, type TestWorld } from "../../support/world.ts";

const cdn = "https://cdn.example.com";
const half = `reference,name,images\nOK,Dress,${cdn}/1.jpg\nBAD,Coat,${cdn}/fail-timeout.jpg\n`;

/** The content of a file; null if it does not exist. */
const bytesOf = (world: TestWorld, name: string): string | null =>
  existsSync(join(world.folder, name)) ? readFileSync(join(world.folder, name), "hex") : null;

/** The next command that a run printed. */
const printedCommand = (stderr: string): string => {
  const line = stderr.split("\n").find((text) => text.startsWith("  cat import "));
  return line!.trim().replace(/^cat /, "");
};

describe("the suggested command", () => {
  const forms: [file: string, text: string, flags: string][] = [
    ["a.csv", half.replaceAll(",", "^"), " --delimiter ^"],
    ["a.csv", half, " --mode create --on-image-error fail_row"],
    ["my file.csv", half, ""],
  ];
  const moreForms: typeof forms = [
    ["a.csv", half, ""],
    ["a.csv", half, " --failed bad.csv"],
    ["a.csv", `sep=^\n${half.replaceAll(",", "^")}`, ""],
    ["a.csv", half.replace("reference", "SKU"), " --map SKU=reference"],
    [
      "a.ndjson",
      `${JSON.stringify({ reference: "BAD", name: "Coat", images: [{ url: `${cdn}/fail-timeout.jpg` }] })}\n`,
      " --failed bad.jsonl",
    ],
  ];
  test.each(sampled([...forms, ...moreForms], 1))(
    "imports the failed rows of %s the same way%s%s",
    async (file, text, flags) => {
      const world = await createWorld();
      world.write(file, text);
      const first = await world.cat(`import '${file}' --no-progress${flags}`);
      expect(first.exit).toBe(8);
      const again = await world.cat(`${printedCommand(first.stderr)} --json --no-progress`);
      // The unchanged file can be imported; its photo fails again.
      expect(again.exit).toBe(8);
      expect(JSON.parse(again.stdout)).toMatchObject({ total: 1, invalid: 0, failed: 1 });
    },
  );

  test("uses the same service", async () => {
    const world = await createWorld({ env: { CAT_BASE_URL: undefined } });
    world.write("a.csv", half);
    const ran = await world.cat(`import a.csv --no-progress --base-url ${world.mock.baseUrl}`);
    expect(printedCommand(ran.stderr)).toBe(`import a.failed.csv --base-url ${world.mock.baseUrl}`);
  });
});

test("the suggested command for a name with control characters works in a shell", async () => {
  const world = await createWorld();
  world.write("a\n\u001b[2J.csv", half);
  const ran = await world.cat(["import", "a\n\u001b[2J.csv", "--no-progress"]);
  expect(printedCommand(ran.stderr)).toBe("import $'a\\n\\033[2J.failed.csv'");
});

describe("output files", () => {
  test.each(
    sampled(
      [
        ["--results nowhere/r.ndjson", "its folder does not exist"],
        ["--failed nowhere/f.csv", "its folder does not exist"],
        ["--results sub", "it is a folder"],
        ["--results -", "standard output is for the summary"],
        ["--results r.ndjson --no-wait", "does not wait"],
        ["--results loop", "too many symbolic links"],
        ["--results a.csv/r.ndjson", "part of its path is not a folder"],
      ],
      3,
    ),
  )("%s is rejected before anything is sent", async (flags, why) => {
    const world = await createWorld();
    world.write("a.csv", half);
    mkdirSync(join(world.folder, "sub"));
    symlinkSync("loop", join(world.folder, "loop"));
    const ran = await world.cat(`import a.csv ${flags}`);
    expect(ran.exit).toBe(2);
    expect(ran.stderr).toContain(why);
    expect(world.requests()).toEqual([]);
  });

  test("are checked after the input, whose problems are always listed", async () => {
    const world = await createWorld();
    world.write("a.csv", `reference,name,images\nA,,${cdn}/1.jpg\n`);
    const ran = await world.cat("import a.csv --failed nowhere/f.csv --results nowhere/r.ndjson");
    expect(ran.exit).toBe(3);
    expect(ran.stderr).toContain("a.csv:2  name  ");
    expect(ran.stderr).not.toContain("nowhere");
  });

  longTest("have a shortened name if the name of the input is too long", async () => {
    const world = await createWorld();
    const name = `${"ü".repeat(124)}abc.csv`;
    expect(Buffer.byteLength(name)).toBe(255);
    world.write(`sub/${name}`, half);
    const short = `sub/${"ü".repeat(119)}`;
    for (const file of [`${short}.failed.csv`, `${short}.failed.1.csv`]) {
      const ran = await world.cat(["import", `sub/${name}`, "--json", "--no-progress"]);
      expect(ran.exit).toBe(8);
      expect(JSON.parse(ran.stdout).failed_file).toBe(`${short}.failed.csv`);
      expect(world.read(file)).toContain("BAD,Coat,");
    }
  });

  test("with default names use the first free name", async () => {
    const world = await createWorld();
    world.write("a.csv", half);
    mkdirSync(join(world.folder, "a.failed.csv"));
    const ran = await world.cat("import a.csv --json --no-progress");
    expect(JSON.parse(ran.stdout).failed_file).toBe("a.failed-2.csv");
  });

  test.each(
    sampled([
      ["-", "stdin.failed.csv"],
      ["/dev/fd/N", "stdin.failed.csv"],
      ["a.csv", "a.failed.csv"],
    ]),
  )("with default names, of %s, are called %s", async (file, name) => {
    const world = await createWorld();
    world.write("a.csv", half);
    const input = openSync(join(world.folder, "a.csv"), "r");
    onTestFinished(() => closeSync(input));
    const call = ["import", file.replace("N", `${input}`), "--json", "--no-progress"];
    const ran = await world.cat(call, { stdin: half });
    expect(JSON.parse(ran.stdout).failed_file).toBe(name);
    expect(world.read(name)).toContain("BAD,Coat,");
  });

  longTest("with default names are next to a named pipe, like its photos", async () => {
    const world = await createWorld();
    world.write("a.csv", half.replace(`${cdn}/1.jpg`, "1.png"));
    world.write("sub/1.png", tinyPng);
    execFileSync("mkfifo", [join(world.folder, "sub/ff")]);
    const writer = spawn("/bin/sh", ["-c", "cat a.csv > sub/ff"], { cwd: world.folder });
    onTestFinished(() => void writer.kill());
    const ran = await world.cat("import sub/ff --no-progress");
    expect(ran.exit).toBe(8);
    expect(ran.stderr).toMatch(/^ {2}cat import sub\/ff\.failed\.csv$/m);
    expect(world.read("sub/ff.failed.csv")).toContain("BAD,Coat,");
    expect(world.products().map(({ reference, images }) => [reference, images.length])).toEqual([["OK", 1]]);
  });

  test.each(
    sampled([
      ["a.csv", "", null],
      ["a.csv", " --failed bad.csv", "bad.csv"],
      ["-", "", "stdin.failed.csv"],
      ["/dev/fd/N", "", "stdin.failed.csv"],
    ]),
  )("contain the rows of a pipe if the key is denied at once: %s%s", async (file, flags, name) => {
    const world = await createWorld({ env: { CAT_API_KEY: "ak_somebody_else_0123456789" } });
    world.write("a.csv", half);
    const input = openSync(join(world.folder, "a.csv"), "r");
    onTestFinished(() => closeSync(input));
    const call = `import ${file.replace("N", `${input}`)} --json --no-progress${flags}`;
    const ran = await world.cat(call, { stdin: half });
    expect(ran.exit).toBe(4);
    expect(JSON.parse(ran.stdout).failed_file).toBe(name);
    if (name !== null) expect(world.read(name).trimEnd().split("\n")).toHaveLength(3);
  });

  test("are written through a link, which stays a link", async () => {
    const world = await createWorld();
    world.write("a.csv", half);
    world.write("real/results.ndjson", "old");
    symlinkSync("real/results.ndjson", join(world.folder, "link.ndjson"));
    await world.cat("import a.csv --results link.ndjson --no-progress");
    expect(readlinkSync(join(world.folder, "link.ndjson"))).toBe("real/results.ndjson");
    expect(world.read("real/results.ndjson").trimEnd().split("\n")).toHaveLength(2);
  });

  test.each(["--failed link.csv", "--results link.csv", "--failed one.csv --results other.csv"])(
    "are never the input or each other, also through a link: %s",
    async (flags) => {
      const world = await createWorld();
      world.write("a.csv", half);
      world.write("one.csv", "");
      symlinkSync("a.csv", join(world.folder, "link.csv"));
      symlinkSync("one.csv", join(world.folder, "other.csv"));
      const ran = await world.cat(`import a.csv ${flags}`);
      expect(ran.exit).toBe(2);
      expect(ran.stderr).toContain("the command already reads or writes it");
      expect(world.read("a.csv")).toBe(half);
      expect(world.requests()).toEqual([]);
    },
  );

  const remembers = "the program keeps its own data there";

  test.each(["before it exists", "once it exists"].slice(repetitions(1, 0)))(
    "are never the ledger, %s",
    async (when) => {
      const world = await createWorld();
      world.write("a.csv", half);
      world.write("folder/other.csv", "");
      symlinkSync("folder", join(world.folder, "to-folder"));
      symlinkSync("folder/l.db", join(world.folder, "link.csv"));
      if (when === "once it exists") {
        await world.cat("import a.csv --ledger folder/l.db --no-progress");
        linkSync(join(world.folder, "folder/l.db"), join(world.folder, "l.db-wal"));
      } else {
        world.write("l.db-wal", "");
        symlinkSync("folder/l.db-wal", join(world.folder, "wal.csv"));
      }
      const sent = world.requests().length;
      const before = bytesOf(world, "folder/l.db");
      const names = ["folder/l.db", "to-folder/l.db", "link.csv", "to-folder/l.db-wal", "folder/l.db-shm"];
      names.push(
        "folder/l.db-hold-1",
        "to-folder/l.db-new-12",
        when === "once it exists" ? "l.db-wal" : "wal.csv",
      );
      for (const name of sampled(names, 3)) {
        for (const flag of ["--failed", "--results"]) {
          const ran = await world.cat(`import a.csv --ledger folder/l.db ${flag} ${name}`);
          expect([ran.exit, ran.stderr]).toEqual([
            2,
            `error: cannot write ${flag} ${name}: ${remembers}\nChoose another file, for example ${flag} ${flag.slice(2)}.csv.\n`,
          ]);
        }
      }
      expect(world.requests().length).toBe(sent);
      expect(bytesOf(world, "folder/l.db")).toBe(before);
    },
  );

  test.each(sampled(["", " --mock"], 1))(
    "are never the config file or a file in the state folder%s",
    async (mock) => {
      const world = await createWorld();
      world.write("a.csv", half);
      const own = ".home/state/default.db";
      await world.cat("import a.csv --no-progress");
      const [before, sent] = [bytesOf(world, own), world.requests().length];
      world.write(".home/config.json", "{}");
      linkSync(join(world.folder, own), join(world.folder, "hard.db"));
      const env = mock === "" ? {} : { CAT_BASE_URL: undefined, CAT_API_KEY: undefined };
      for (const flags of [
        `--failed ${own}`,
        `--results ${own}-wal`,
        `--ledger l.db --failed ${own}-hold-3`,
        "--results .home/state/other.db",
        "--failed .home/config.json",
        "--results hard.db",
      ]) {
        const ran = await world.cat(`import a.csv ${flags}${mock}`, { env });
        expect([ran.exit, ran.stderr]).toEqual([2, expect.stringContaining(remembers)]);
      }
      expect(bytesOf(world, own)).toBe(before);
      expect(world.read(".home/config.json")).toBe("{}");
      expect(world.requests().length).toBe(sent);
    },
  );

  longTest("can be anywhere with --mock, which creates no folder", async () => {
    const world = await createWorld({ env: { CAT_BASE_URL: undefined, CAT_API_KEY: undefined } });
    world.write("a.csv", half);
    const ran = await world.cat("import a.csv --mock --json --results r.ndjson --failed f.csv");
    expect(JSON.parse(ran.stdout)).toMatchObject({ results_file: "r.ndjson", failed_file: "f.csv" });
    expect(readdirSync(world.folder).sort()).toEqual(["a.csv", "f.csv", "r.ndjson"]);
  });

  test.each(sampled(["l.db", "hard.db", "l.db-wal", "L.DB-hold-1"], 1))(
    "are never the ledger of another run: %s",
    async (name) => {
      const world = await createWorld();
      world.write("a.csv", half);
      await world.cat("import a.csv --ledger l.db --no-progress");
      await world.cat("import a.csv --ledger L.DB --no-progress");
      linkSync(join(world.folder, "l.db"), join(world.folder, "hard.db"));
      const [before, sent] = [bytesOf(world, "l.db"), world.requests().length];
      for (const flag of ["--failed", "--results"]) {
        const ran = await world.cat(`import a.csv ${flag} ${name}`);
        expect([ran.exit, ran.stderr]).toEqual([2, expect.stringContaining(remembers)]);
      }
      expect(bytesOf(world, "l.db")).toBe(before);
      expect(world.requests().length).toBe(sent);
    },
  );

  test("can replace an SQLite file of another program", async () => {
    const world = await createWorld();
    world.write("a.csv", half);
    const header = Buffer.alloc(100);
    header.write("SQLite format 3\0", "latin1");
    world.write("theirs.db", header);
    const ran = await world.cat("import a.csv --json --no-progress --results theirs.db");
    expect(JSON.parse(ran.stdout)).toMatchObject({ results_file: "theirs.db" });
  });

  test.each([
    [
      ".home/config.json",
      "error: cannot use --ledger .home/config.json: it is the config file of this program\n",
    ],
    ["-", "error: --ledger -: a ledger cannot be standard input\n"],
  ])("%s is rejected as a ledger", async (name, sentence) => {
    const world = await createWorld();
    world.write("a.csv", half);
    mkdirSync(join(world.folder, ".home"));
    const ran = await world.cat(`import a.csv --ledger ${name}`);
    expect(ran.exit).toBe(2);
    expect(ran.stderr).toContain(sentence);
    expect(readdirSync(world.folder).sort()).toEqual([".home", "a.csv"]);
    expect(readdirSync(join(world.folder, ".home"))).not.toContain("config.json");
    expect(world.requests()).toEqual([]);
  });

  test("do not include a ledger with --mock", async () => {
    const world = await createWorld({ env: { CAT_BASE_URL: undefined, CAT_API_KEY: undefined } });
    world.write("a.csv", half);
    await world.cat("import a.csv --mock --ledger l.db --json");
    expect(existsSync(join(world.folder, "l.db"))).toBe(false);
  });

  test("are never a photo of the file, also through a link", async () => {
    const world = await createWorld();
    world.write("p.png", tinyPng);
    world.write("a.csv", "reference,name,images\nA,Dress,p.png\n");
    symlinkSync("p.png", join(world.folder, "link.ndjson"));
    for (const flags of ["--results p.png", "--failed p.png", "--results link.ndjson"]) {
      const ran = await world.cat(`import a.csv ${flags}`);
      expect([ran.exit, ran.stderr]).toEqual([
        2,
        expect.stringContaining("it is a photo in the file to import"),
      ]);
    }
    expect(readFileSync(join(world.folder, "p.png"))).toEqual(Buffer.from(tinyPng));
    expect(world.requests()).toEqual([]);
  });

  longTest("are reported under the names that were typed", async () => {
    const world = await createWorld();
    world.write("a$&b.csv", half);
    world.write("real/mine.csv", "old");
    symlinkSync("real/mine.csv", join(world.folder, "link.csv"));
    const linked = await world.cat(["import", "a$&b.csv", "--failed", "link.csv", "--json", "--no-progress"]);
    expect(JSON.parse(linked.stdout).failed_file).toBe("link.csv");
    expect(world.read("real/mine.csv")).toContain("BAD,Coat,");
    const plain = await world.cat(["import", "a$&b.csv", "--json", "--no-progress"]);
    expect(JSON.parse(plain.stdout).failed_file).toBe("a$&b.failed.csv");
  });

  test("are never a socket", async () => {
    const world = await createWorld();
    world.write("a.csv", half);
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(join(world.folder, "socket"), resolve));
    onTestFinished(() => void server.close());
    const ran = await world.cat("import a.csv --results socket --no-progress");
    expect(ran.exit).toBe(2);
    expect(ran.stderr).toContain("cannot write --results socket: it is a socket\n");
    expect(world.requests()).toEqual([]);
  });

  longTest("have a byte order mark if the input has one, for spreadsheets", async () => {
    const world = await createWorld();
    world.write("a.csv", `\uFEFF${half.replace("Coat", "Manteau d'été")}`);
    await world.cat("import a.csv --no-progress");
    expect(world.read("a.failed.csv").startsWith("\uFEFFreference,name,images,error_code")).toBe(true);
    world.write("b.csv", half);
    await world.cat("import b.csv --no-progress");
    expect(world.read("b.failed.csv").startsWith("reference")).toBe(true);
  });
});

describe("--skip-invalid", () => {
  test.each([
    ["every row is rejected", "reference,name,images\nA,,x\n", 2, { total: 1, valid: 0, invalid: 1 }],
    ["the header is rejected", "reference,name,colour,images\nA,b,c,x\n", 1, { valid: 0 }],
  ])("with --json lists the problems when %s", async (_, text, line, counts) => {
    const world = await createWorld();
    world.write("a.csv", text);
    const ran = await world.cat("import a.csv --skip-invalid --json");
    expect(ran.exit).toBe(3);
    const report = JSON.parse(ran.stdout);
    expect(report).toMatchObject(counts);
    expect(report.problems[0].line).toBe(line);
    expect(ran.stderr).not.toContain("--skip-invalid");
  });

  test("handles many rows quickly, with a reason for every invalid row", async () => {
    const world = await createWorld();
    const count = repetitions(20, 20_000);
    const rows = Array.from(
      { length: count },
      (_, index) => `R-${index},${index % 2 ? "Dress" : ""},${cdn}/1.jpg\n`,
    );
    world.write("a.csv", `reference,name,images\n${rows.join("")}R-1,Dress,${cdn}/1.jpg\n`);
    const ran = await world.cat("import a.csv --skip-invalid --json --no-progress");
    expect(JSON.parse(ran.stdout)).toMatchObject({
      total: count + 1,
      invalid: count / 2 + 1,
      succeeded: count / 2,
    });
    const failed = world.read("a.failed.csv").trimEnd().split("\n").slice(1);
    expect(failed).toHaveLength(count / 2 + 1);
    expect(failed[0]).toBe(`R-0,,${cdn}/1.jpg,invalid_row,name is missing`);
    expect(failed.at(-1)).toContain("R-1,Dress,https://cdn.example.com/1.jpg,duplicate_reference_in_file,");
  });
});

describe("a service with invalid results", () => {
  /** Puts a proxy between the mock and the command: `answer` may respond to a request itself. */
  async function between(
    world: TestWorld,
    answer: (path: string, response: ServerResponse) => boolean,
  ): Promise<string> {
    const server = createServer((request: IncomingMessage, response) => {
      const path = request.url!;
      const chunks: Buffer[] = [];
      request.on("data", (chunk) => chunks.push(chunk));
      request.on("end", async () => {
        if (answer(path, response)) return;
        const {
          host: _host,
          connection: _connection,
          "content-length": _length,
          ...headers
        } = request.headers as Record<string, string>;
        const body = chunks.length > 0 ? Buffer.concat(chunks) : null;
        const answered = await fetch(world.mock.baseUrl + path, { method: request.method!, headers, body });
        const text = (await answered.text()).replaceAll(world.mock.baseUrl, base);
        response.writeHead(answered.status, {
          "content-type": answered.headers.get("content-type") ?? "text/plain",
        });
        response.end(text);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return base;
  }
  const result = (line: number, status: string) =>
    JSON.stringify({ line, reference: "A", status, action: null, product_id: null, images: [], error: null });
  const list = (...results: string[]) => `{"data":[${results}],"has_more":false,"next_cursor":null}`;

  test.each(
    sampled(
      [
        ["that are still pending", `${result(1, "pending")}\n`, list(result(1, "pending"))],
        ["for another line", `${result(7, "succeeded")}\n`, list(result(7, "succeeded"))],
        ["that break off", result(1, "succeeded"), list()],
        [
          "for more lines",
          `${result(1, "succeeded")}\n`.repeat(2),
          list(result(1, "succeeded"), result(2, "failed")),
        ],
        ["that are HTML", "<h1>It works</h1>\n", "<h1>It works</h1>\n"],
      ],
      1,
    ),
  )("exits with 7 for results %s in file and list, and counts no row", async (_, file, listed) => {
    const world = await createWorld();
    world.write("a.csv", `reference,name,images\nA,Dress,${cdn}/1.jpg\n`);
    const base = await between(world, (path, response) => {
      const isList = path.includes("/rows?");
      if (path.startsWith("/v1/") && !isList) return false;
      response.end(isList ? listed : file);
      return true;
    });
    const ran = await world.cat(`import a.csv --json --no-progress --base-url ${base} --results r.ndjson`);
    expect(ran.exit).toBe(7);
    expect(JSON.parse(ran.stdout)).toMatchObject({ submitted: 1, succeeded: 0, results_file: null });
    expect(JSON.parse(ran.stderr).error).toMatchObject({ type: "bad_response", exit: 7 });
  });

  test("stops reading an endless results file, and reads the list instead", async () => {
    const world = await createWorld();
    world.write("a.csv", `reference,name,images\nA,Dress,${cdn}/1.jpg\n`);
    let sent = 0;
    const base = await between(world, (path, response) => {
      if (path.startsWith("/v1/")) return false;
      const more = (): void => {
        sent += 65_536;
        if (!response.destroyed) response.write("x".repeat(65_536), () => setImmediate(more));
      };
      more();
      return true;
    });
    const ran = await world.cat(`import a.csv --no-progress --base-url ${base}`);
    expect(ran.exit).toBe(0);
    expect(sent).toBeLessThan(32 * 1024 * 1024);
  });

  test("reports that nothing was imported after an endless 429, and keeps the rows", async () => {
    const world = await createWorld();
    world.write("a.csv", `reference,name,images\nA,Dress,${cdn}/1.jpg\n`);
    const base = await between(world, (_, response) => {
      response.writeHead(429, { "content-type": "application/json", "retry-after": "3600" });
      response.end('{"error":{"type":"rate_limited","code":"rate_limit_exceeded","message":"slow down"}}');
      return true;
    });
    const ran = await world.cat(`import a.csv --no-progress --base-url ${base}`);
    expect(ran.exit).toBe(7);
    expect(ran.stderr).toContain("Try again in 1 h.\n");
    expect(ran.stderr).not.toContain("It is not known");
    expect(ran.stderr).toContain(
      `To resume, run the same command again (nothing is sent twice):\n  cat import a.csv --no-progress --base-url ${base}\n`,
    );
    expect(existsSync(join(world.folder, "a.failed.csv"))).toBe(false);
  });

  test("lists problems that only the service finds by lines of the file, also as JSON", async () => {
    const world = await createWorld();
    world.write("a.csv", `reference,name,images\n\nA,Dress,${cdn}/1.jpg\nB,Dress,${cdn}/1.jpg\n`);
    const errors = '{"errors":[{"line":2,"code":"invalid_row","param":"name","message":"no such name"}]}';
    const base = await between(world, refusing(400, errors));
    const ran = await world.cat(`import a.csv --json --no-progress --base-url ${base}`);
    expect(ran.exit).toBe(3);
    const problems = [{ line: 4, param: "name", code: "invalid_row", message: "no such name" }];
    expect(JSON.parse(ran.stdout)).toMatchObject({ submitted: 0, problems });
    const told = await world.cat(`import a.csv --no-progress --base-url ${base}`);
    expect(told.stderr).toContain("a.csv:4  name  invalid_row  no such name\n");
    expect(told.stderr).toContain("  1 row rejected by the service, listed above\n");
    expect(told.stderr).toContain("  1 row not imported: other rows of the same batch were rejected\n");
  });

  const refusing = (status: number, body: string) => (path: string, response: ServerResponse) => {
    if (!path.startsWith("/v1/imports?")) return false;
    response.writeHead(status, { "content-type": "application/json" }).end(body);
    return true;
  };

  longTest("lists problems of a complete batch by the lines of the batch", async () => {
    const world = await createWorld();
    world.write("a.csv", `reference,name,images\n\nA,Dress,${cdn}/1.jpg\nB,Dress,${cdn}/1.jpg\n`);
    const errors = '{"errors":[{"line":null,"code":"too_many_imports","message":"try later"}]}';
    const base = await between(world, refusing(400, errors));
    const ran = await world.cat(`import a.csv --no-progress --base-url ${base}`);
    expect(ran.exit).toBe(3);
    expect(ran.stderr).toContain("a.csv:3-4  -  too_many_imports  try later\n");
    expect(ran.stderr).toContain("  2 rows not imported: the service rejected the batch\n");
    const json = await world.cat(`import a.csv --json --no-progress --base-url ${base}`);
    expect(JSON.parse(json.stdout)).toMatchObject({
      refused: [{ first_line: 3, last_line: 4, rows: 2 }],
      problems: [{ first_line: 3, last_line: 4, code: "too_many_imports", message: "try later" }],
    });
  });

  test("accounts for every row and names every import when a later batch is rejected", async () => {
    nowBatchesOf(20);
    const world = await createWorld();
    const rows = Array.from({ length: 41 }, (_, index) => `R-${index},Dress,${cdn}/${index}.jpg\n`).join("");
    world.write("a.csv", `reference,name,images\n${rows}`);
    let calls = 0;
    const noCredits = '{"error":{"type":"payment_required","code":"insufficient_credits","message":"no"}}';
    const base = await between(world, (path, response) =>
      path.startsWith("/v1/imports?") && ++calls > 1 ? refusing(402, noCredits)(path, response) : false,
    );
    const ran = await world.cat(`import a.csv --no-wait --concurrency 1 --no-progress --base-url ${base}`);
    expect(ran.exit).toBe(4);
    const [job] = Object.values(world.mock.state().organizations.main.imports);
    expect(ran.stderr.split("\n").slice(0, 4)).toEqual([
      "Stopped: sent 20 of 41 rows of a.csv.",
      `  20 rows in progress at the service: import ${job!.id} (validating)`,
      "  20 rows not imported: the service rejected the batch",
      "  1 row not sent",
    ]);
  });
});

longTest("an import that a reset service no longer has is reported with the way out", async () => {
  const { cat, clock, mock, products, write } = await createWorld();
  write("a.csv", `reference,name,images\nA,Dress,${cdn}/1.jpg\n`);
  clock.isIdle = () => false;
  const before = clock.slept.length;
  const running = cat("import a.csv");
  await until(() => clock.slept.length > before);
  mock.reset();
  clock.isIdle = () => true;
  const ran = await running;
  expect(ran.exit).toBe(5);
  expect(ran.stderr).toMatch(
    /error: import not found \(.*\)\nWas the service reset or restored\? Run the command again: it shows which products exist, and how to send the rows again\.\n$/,
  );
  const again = await cat("import a.csv");
  expect(again.exit).toBe(6);
  expect(again.stderr).toContain("run the command again with --unknown not-imported.");
  expect((await cat("import a.csv --unknown not-imported")).exit).toBe(0);
  expect(products()).toHaveLength(1);
});
