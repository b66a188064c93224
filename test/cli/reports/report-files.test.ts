import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join, win32 } from "node:path";
import fc from "fast-check";
import { SaxesParser } from "saxes";
import { describe, expect, test } from "vitest";
import { pathWithin } from "../../../src/cli/reports/found-problems.ts";
import { escaped } from "../../../src/cli/reports/report-formats.ts";
import { repetitions } from "../../support/repetitions.ts";
import { until } from "../../support/until.ts";
import { createWorld } from "../../support/world.ts";

const url = "https://cdn.example.com";
const head = "reference,name,images";
const csv = (...rows: readonly string[]) => [head, ...rows, ""].join("\n");
const good = csv(`A-1,Dress,${url}/1.jpg`);

/** The elements of a document, each as its name, its attributes and its text. Throws if it is not well-formed. */
function elementsOf(xml: string): [string, Record<string, string>, string][] {
  const found: [string, Record<string, string>, string][] = [];
  const parser = new SaxesParser();
  parser.on("error", (error) => {
    throw error;
  });
  parser.on("opentag", ({ name, attributes }) => void found.push([name, { ...attributes }, ""]));
  parser.on("text", (text) => {
    if (found.length > 0) found.at(-1)![2] += text.trim();
  });
  parser.write(xml).close();
  return found;
}

describe("--report", () => {
  test("writes a Code Quality report, whose fingerprints stay when rows move", async () => {
    const world = await createWorld();
    world.write("a.csv", csv(`A-1,,${url}/1.jpg`, `A-1,Coat,${url}/fail-timeout.jpg`));
    const report = async () => {
      await world.cat("import a.csv --dry-run --report gitlab.json");
      return JSON.parse(world.read("gitlab.json"));
    };
    const issues = await report();
    expect(issues).toEqual([
      {
        description: "A-1: name is missing",
        check_name: "invalid_row",
        fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
        severity: "major",
        location: { path: "a.csv", lines: { begin: 2 } },
      },
      {
        description: 'duplicate reference "A-1", first used on line 2',
        check_name: "duplicate_reference_in_file",
        fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
        severity: "major",
        location: { path: "a.csv", lines: { begin: 3 } },
      },
    ]);
    world.write("a.csv", csv(`A-0,Hat,${url}/1.jpg`, `A-1,,${url}/1.jpg`, `A-1,Coat,${url}/2.jpg`));
    const moved = await report();
    const prints = (of: { fingerprint: string }[]) => of.map(({ fingerprint }) => fingerprint);
    expect(prints(moved)).toEqual(prints(issues));
    expect(moved[0].location.lines.begin).toBe(3);
    world.write("a.csv", csv(`,,${url}/1.jpg`, `,,${url}/1.jpg`));
    expect(new Set(prints(await report())).size).toBe(4);
  });

  test("writes a JUnit report with a test case for each row with problems, and the counts", async () => {
    const world = await createWorld();
    const rows = [`A-1,Dress,${url}/1.jpg`, `A-2,Coat,${url}/fail-timeout.jpg`, `"<&""A-3",,ftp://x`];
    world.write("a.csv", csv(...rows));
    const { exit } = await world.cat("import a.csv --skip-invalid --report junit.xml");
    expect(exit).toBe(8);
    const elements = elementsOf(world.read("junit.xml"));
    expect(elements.filter(([name]) => name !== "property")).toEqual([
      ["testsuites", { name: "cat import", tests: "2", failures: "2", errors: "0" }, ""],
      ["testsuite", { name: "a.csv", tests: "2", failures: "2", errors: "0", skipped: "0" }, ""],
      ["properties", {}, ""],
      ["testcase", { classname: "a.csv", name: 'a.csv:4 <&"A-3', file: "a.csv", line: "4" }, ""],
      [
        "failure",
        { type: "invalid_row", message: '<&"A-3: name is missing' },
        expect.stringMatching(/^<&"A-3: name is missing\n.*images/),
      ],
      ["testcase", { classname: "a.csv", name: "a.csv:3 A-2", file: "a.csv", line: "3" }, ""],
      ["failure", expect.objectContaining({ type: "image_failed" }), expect.stringContaining("timeout")],
    ]);
    const counts = elements
      .filter(([name]) => name === "property")
      .map(([, { name, value }]) => [name, value]);
    expect(Object.fromEntries(counts)).toMatchObject({ total: "3", created: "1", failed: "1", invalid: "1" });
  });

  test("writes reports of all formats for a run without problems, and replaces those of the last run", async () => {
    const world = await createWorld();
    world.write("a.csv", good);
    world.write("gitlab.json", "old");
    const { exit, stderr } = await world.cat("import a.csv --report gitlab.json --report ci/../junit.XML");
    expect([exit, stderr]).toEqual([0, expect.not.stringContaining("warning")]);
    expect(world.read("gitlab.json")).toBe("[]\n");
    expect(elementsOf(world.read("junit.XML"))[0]![1]).toMatchObject({ tests: "1", failures: "0" });
    expect(world.read("junit.XML")).toContain('<testcase classname="a.csv" name="no problems"/>');
    expect(readdirSync(world.folder).filter((name) => name.endsWith(".part"))).toEqual([]);
  });

  test("names what stopped a command before its first row", async () => {
    const world = await createWorld({ env: { CAT_API_KEY: undefined } });
    world.write("a.csv", good);
    const { exit } = await world.cat("import a.csv --report gitlab.json --report junit.xml");
    expect(exit).toBe(4);
    expect(JSON.parse(world.read("gitlab.json"))).toMatchObject([
      {
        check_name: "missing_api_key",
        severity: "blocker",
        location: { path: "a.csv", lines: { begin: 1 } },
      },
    ]);
    expect(elementsOf(world.read("junit.xml")).at(-1)).toEqual([
      "error",
      { type: "missing_api_key", message: expect.stringMatching(/^no API key\. Run: cat login/) },
      "",
    ]);
  });

  test("names what a run waited for in vain", async () => {
    const world = await createWorld({ env: { CAT_BASE_URL: "http://127.0.0.1:1" } });
    world.write("a.csv", good);
    const { exit } = await world.cat("import a.csv --timeout 2s --report gitlab.json");
    expect(exit).toBe(7);
    expect(JSON.parse(world.read("gitlab.json"))[0].description).toMatch(
      /within 2 s: http:\/\/127\.0\.0\.1:1 cannot be reached/,
    );
  });

  test("keeps the line ends of a name", async () => {
    const world = await createWorld();
    world.write("a\nb.csv", csv(`A-1,,${url}/1.jpg`));
    await world.cat(["import", "a\nb.csv", "--report", "junit.xml"]);
    expect(world.read("junit.xml")).toContain('file="a&#10;b.csv"');
  });

  test("lists 1,000 problems and how many more there are", async () => {
    const world = await createWorld();
    world.write("a.csv", csv(...Array.from({ length: 1_500 }, (_, at) => `A-${at},,${url}/1.jpg`)));
    await world.cat("import a.csv --dry-run --json --report gitlab.json --report junit.xml");
    const issues = JSON.parse(world.read("gitlab.json"));
    expect([issues.length, issues.at(-1).description]).toEqual([1001, "and 500 more problems"]);
    expect(elementsOf(world.read("junit.xml"))[0]![1]).toMatchObject({ tests: "1001", failures: "1001" });
  });

  test("has a suite for each of several files", async () => {
    const world = await createWorld();
    world.write("a.csv", good);
    world.write("b.csv", csv(`B-1,,${url}/1.jpg`));
    await world.cat("import a.csv b.csv --report junit.xml");
    const suites = elementsOf(world.read("junit.xml")).filter(([name]) => name === "testsuite");
    expect(suites.map(([, { name, tests }]) => `${name} ${tests}`)).toEqual(["a.csv 1", "b.csv 1"]);
  });

  test("skips the inputs that a command has not come to when it stops", async () => {
    const world = await createWorld({ env: { CAT_API_KEY: undefined } });
    world.write("a.csv", good);
    world.write("b.csv", good.replaceAll("A-1", "B-1"));
    await world.cat("import a.csv b.csv --report junit.xml");
    const report = world.read("junit.xml");
    expect(report).toContain('<testsuite name="a.csv" tests="1" failures="0" errors="0" skipped="1">');
    expect(report).toContain('<testcase classname="a.csv" name="not finished"><skipped/></testcase>');
    expect(report).toContain('<testsuite name="b.csv" tests="1" failures="0" errors="1" skipped="0">');
  });

  test.each([
    ["-", "standard output is for the summary"],
    ["report.txt", "its name ends neither in .json (GitLab Code Quality) nor in .xml (JUnit)"],
    ["folder.json", "it is a folder"],
    ["report.json/", "it ends like a folder"],
    ["missing/report.json", "its folder does not exist"],
    ["rows.json", "the command already reads or writes it"],
    ["./results.json", "the command already reads or writes it"],
    ["catalogue.map.json", "the command already reads or writes it"],
    ["twice.json --report ./twice.json", "the command already reads or writes it"],
    [".home/config.json", "the program keeps its own data there"],
    ["/dev/stdout.xml", "permission denied for its folder"],
  ])("is rejected before anything is sent: %s", async (name, why) => {
    const world = await createWorld();
    world.write(
      "rows.json",
      `${JSON.stringify({ reference: "A-1", name: "Dress", images: [{ url: `${url}/1.jpg` }] })}\n`,
    );
    world.write(".home/config.json", "{}");
    mkdirSync(join(world.folder, "folder.json"));
    const line = `import rows.json --format ndjson --results results.json --report ${name}`;
    const { exit, stderr, stdout } = await world.cat(line);
    if (name.startsWith("/dev/")) expect([exit, world.products().length]).toEqual([2, 0]);
    else
      expect([exit, stdout, stderr]).toEqual([
        2,
        "",
        `error: cannot write --report ${name.replace(/.* /, "")}: ${why}\nChoose another file, for example --report gitlab.json or --report junit.xml.\n`,
      ]);
    expect(world.requests()).toEqual([]);
  });

  test("is rejected as an address, without its credentials", async () => {
    const world = await createWorld();
    world.write("a.csv", good);
    const { exit, stderr } = await world.cat("import a.csv --report https://user:secret@host/r.json");
    expect([exit, stderr]).toEqual([2, expect.not.stringContaining("secret")]);
  });

  test("that cannot be written at the end is a warning, and changes no exit status", async () => {
    const world = await createWorld();
    world.write("a.csv", good);
    mkdirSync(join(world.folder, "ci"));
    const running = world.cat("import a.csv --report ci/gitlab.json --json");
    await until(() => world.requests().length > 0);
    rmSync(join(world.folder, "ci"), { recursive: true });
    const { exit, stdout, stderr } = await running;
    expect([exit, JSON.parse(stdout).succeeded]).toEqual([0, 1]);
    expect(JSON.parse(stderr)).toEqual({
      warning: {
        message: `cannot write ${join(world.folder, "ci", "gitlab.json")}: no such file or folder`,
      },
    });
  });
});

describe("texts of cells in XML", () => {
  test("have no control characters and no markup", () => {
    expect(escaped("a\x00\x1b[31m<b>&\ud800\ufffe\n\t")).toBe("a[31m&lt;b&gt;&amp;\n\t");
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        elementsOf(`<a b="${escaped(text).replaceAll('"', "&quot;")}">${escaped(text)}</a>`);
      }),
      { numRuns: repetitions(25, 100) },
    );
  });
});

test.each([
  ["C:\\repo", "C:\\repo\\data\\a.csv", "data/a.csv"],
  ["C:\\repo", "c:\\Repo\\a.csv", "a.csv"],
  ["C:\\repo", "D:\\a.csv", null],
  ["C:\\repo", "C:\\other\\a.csv", null],
  ["C:\\repo", "C:\\repo\\..a.csv", "..a.csv"],
])("on Windows, the path from %s to %s is %s", (folder, file, path) => {
  expect(pathWithin(folder, file, win32)).toBe(path);
});
