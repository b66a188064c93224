import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { inMarkdown } from "../../../src/cli/reports/github.ts";
import { longTest } from "../../support/long-test.ts";
import { sampled } from "../../support/repetitions.ts";
import { createWorld } from "../../support/world.ts";
import { workbookOf } from "../../support/write-workbook.ts";
import { generateWorld } from "../generate/generate-world.ts";

const url = "https://cdn.example.com";
const bad = [
  "reference,name,sex,images",
  `A-1,Dress,female,${url}/1.jpg`,
  `A-2,Coat,"50%, a:b\nx",${url}/2.jpg`,
  "",
];
const GITHUB_ACTIONS = "true";

/** The annotations on stderr. */
const annotations = (stderr: string) => stderr.split("\n").filter((line) => line.startsWith("::"));

describe("annotations", () => {
  test.each(sampled(["", "--dry-run"], 1))(
    "name the file, the line and the problem of an invalid row: import %s",
    async (flag) => {
      const world = await createWorld({ env: { GITHUB_ACTIONS } });
      world.write("products.csv", bad.join("\n"));
      const { exit, stdout, stderr } = await world.cat(`import products.csv ${flag}`);
      expect([exit, stdout]).toEqual([3, ""]);
      expect(annotations(stderr)).toEqual([
        "::error file=products.csv,line=3::A-2: sex must be one of male, female, other, kid, not \"50%25, a:b\\nx\": correct it, or use --map-value $'sex:50%25, a:b\\nx=VALUE'",
      ]);
    },
  );

  test("name rows that the service rejected, and rows without some of their photos", async () => {
    const world = await createWorld({ env: { GITHUB_ACTIONS } });
    const rows = [`A-1,Dress,${url}/fail-timeout.jpg`, `A-2,Coat,${url}/2.jpg|${url}/fail-timeout.jpg`];
    world.write("products.csv", ["reference,name,images", ...rows, ""].join("\n"));
    const { exit, stderr } = await world.cat("import products.csv");
    expect(exit).toBe(8);
    expect(annotations(stderr)).toEqual([
      `::error file=products.csv,line=2::A-1: 1 of 1 images could not be attached; ${url}/fail-timeout.jpg: the image could not be fetched: timeout`,
      `::error file=products.csv,line=3::A-2: ${url}/fail-timeout.jpg: the image could not be fetched: timeout`,
    ]);
  });

  longTest("name rows that would fail by a plan, which the summary counts", async () => {
    const world = await createWorld({ env: { GITHUB_ACTIONS } });
    world.write("a.csv", `reference,name,images\nA-1,Dress,${url}/1.jpg\n`);
    await world.cat("import a.csv");
    world.write("b.csv", `reference,name,images\nB-1,Coat,${url}/1.jpg\nA-1,Dress,${url}/1.jpg\n`);
    const GITHUB_STEP_SUMMARY = join(world.folder, "summary.md");
    const { exit, stderr } = await world.cat("import b.csv --mode create --plan --report r.xml", {
      env: { GITHUB_STEP_SUMMARY },
    });
    expect([exit, annotations(stderr)]).toEqual([
      8,
      ["::error file=b.csv,line=3::A-1: reference: the product exists already"],
    ]);
    expect(world.read("summary.md")).toContain("| total | create | change |");
    expect(world.read("summary.md")).not.toContain("Stopped");
    expect(world.read("r.xml")).toContain('<failure type="reference_already_exists"');
  });

  longTest("name failed tasks, and invalid rows of a dry run", async () => {
    const world = await generateWorld({ env: { GITHUB_ACTIONS } });
    world.write("a.csv", `reference,name,images\nfail-no_person,Dress,${url}/1.jpg\n`);
    await world.cat("import a.csv");
    world.looks("DRESS-1,Amara,white,full-front", "fail-no_person,Amara,white,full-front");
    const ran = await world.cat("tryon looks.csv --yes");
    expect(ran.exit).toBe(8);
    const id = world.tasks()[1]!.id;
    expect(annotations(ran.stderr)).toEqual([
      `::error file=looks.csv,line=3::fail-no_person  Amara  white  full-front: the generation failed: no person (task ${id})`,
    ]);
    world.looks("DRESS-1,Amara,white,full-front", "NONE,Amara,white,full-front");
    const dry = await world.cat("tryon looks.csv --dry-run");
    expect(dry.exit).toBe(3);
    expect(annotations(dry.stderr)).toEqual([
      expect.stringMatching(/^::error file=looks\.csv,line=3::.*NONE/),
    ]);
  });

  longTest("have the cell of a workbook in the title, and no line", async () => {
    const world = await createWorld({ env: { GITHUB_ACTIONS } });
    const rows = [
      ["reference", "name", "images"],
      ["A-1", "", `${url}/1.jpg`],
    ];
    world.write("products.xlsx", workbookOf({ Sheet1: rows }));
    expect(annotations((await world.cat("import products.xlsx")).stderr)).toEqual([
      "::error file=products.xlsx,title=products.xlsx%3A Sheet1!B2::A-1: name is missing",
    ]);
  });

  test.each(
    sampled([
      ["standard input", "import -", "title=stdin%3A3"],
      ["a file outside of the repository", "import ../outside.csv", "title=../outside.csv%3A3"],
      ["a file of a folder", "import deep/products.csv", "file=work/deep/products.csv,line=3"],
    ]),
  )("of %s", async (_, line, place) => {
    const world = await createWorld();
    for (const name of ["work/deep/products.csv", "outside.csv"]) world.write(name, bad.join("\n"));
    mkdirSync(join(world.folder, "elsewhere"));
    symlinkSync(world.folder, join(world.folder, "elsewhere", "repository"));
    const isOutside = line.includes("outside");
    const GITHUB_WORKSPACE = isOutside
      ? join(world.folder, "work")
      : join(world.folder, "elsewhere", "repository");
    const { stderr } = await world.cat(line, {
      env: { GITHUB_ACTIONS, GITHUB_WORKSPACE },
      stdin: bad.join("\n"),
      context: { cwd: join(world.folder, "work") },
    });
    expect(annotations(stderr)).toEqual([expect.stringMatching(`^::error ${place}::A-2: sex must`)]);
  });

  test("cannot come from the name of a file, nor from a cell", async () => {
    const world = await createWorld({ env: { GITHUB_ACTIONS } });
    world.write(
      "::error::x.csv",
      ["reference,name,sex,images", `A-1,Dress,##[error]y,${url}/1.jpg`, ""].join("\n"),
    );
    const { stderr } = await world.cat(["import", "::error::x.csv"]);
    expect(stderr.split("\n").slice(0, 2)).toEqual([
      expect.stringMatching(/^\\x3a:error::x\.csv:2 .* not "#\\x23\[error\]y"/),
      expect.stringMatching(/^::error file=%3A%3Aerror%3A%3Ax\.csv,line=2::A-1: sex must/),
    ]);
  });

  test("show the control characters of a file's name", async () => {
    const world = await createWorld({ env: { GITHUB_ACTIONS } });
    world.write("red\x1b[31m.csv", `reference,name,images\nA-1,,${url}/1.jpg\n`);
    const { stderr } = await world.cat(["import", "red\x1b[31m.csv"]);
    expect(annotations(stderr)).toEqual([expect.stringMatching(/^::error file=red\\x1b\[31m\.csv,line=2::/)]);
    expect(stderr).not.toContain("\x1b");
  });

  longTest("are ten at most, of which the last says how many more there are", async () => {
    const world = await createWorld({ env: { GITHUB_ACTIONS } });
    const rows = (count: number) => Array.from({ length: count }, (_, at) => `A-${at},,${url}/1.jpg`);
    world.write("ten.csv", ["reference,name,images", ...rows(10), ""].join("\n"));
    world.write("many.csv", ["reference,name,images", ...rows(1200), ""].join("\n"));
    expect(annotations((await world.cat("import ten.csv --dry-run")).stderr)).toHaveLength(10);
    const lines = annotations((await world.cat("import many.csv --dry-run")).stderr);
    expect(lines).toHaveLength(10);
    expect(lines.at(-1)).toBe("::error::and 1,191 more, listed in the log and in the reports");
  });

  test("name what stopped a command", async () => {
    const world = await createWorld({ env: { GITHUB_ACTIONS, CAT_API_KEY: undefined } });
    world.write("products.csv", `reference,name,images\nA-1,Dress,${url}/1.jpg\n`);
    const { exit, stderr } = await world.cat("import products.csv");
    expect([exit, annotations(stderr)]).toEqual([
      4,
      ["::error::no API key. Run: cat login (or set CAT_API_KEY). To try it without an account, add --mock."],
    ]);
  });

  test.each([
    ["with --json", "--json", {}],
    ["with CAT_ANNOTATIONS=off", "", { CAT_ANNOTATIONS: "off" }],
    ["elsewhere", "", { GITHUB_ACTIONS: undefined }],
  ])("are left out %s", async (_, flag, env) => {
    const world = await createWorld({ env: { GITHUB_ACTIONS, ...env } });
    world.write("products.csv", bad.join("\n"));
    expect((await world.cat(`import products.csv ${flag}`)).stderr).not.toContain("::error");
  });
});

describe("the job summary", () => {
  const summaryOf = async (line: string, csv: readonly string[]) => {
    const world = await createWorld();
    world.write("products.csv", csv.join("\n"));
    world.write("summary.md", "before");
    const GITHUB_STEP_SUMMARY = join(world.folder, "summary.md");
    const ran = await world.cat(line, { env: { GITHUB_ACTIONS, GITHUB_STEP_SUMMARY } });
    return { ...ran, summary: world.read("summary.md") };
  };

  test("has the counts and the first failed rows, with --json too, after what is there", async () => {
    const rows = [`A-1,Dress,${url}/1.jpg`, `A-2,Coat,${url}/fail-timeout.jpg`];
    const { summary } = await summaryOf("import products.csv --json", ["reference,name,images", ...rows]);
    expect(summary).toBe(
      [
        "before",
        "### cat import products&#46;csv",
        "",
        "| total | created | updated | skipped | unchanged | kept | deleted | conflicts | partial | failed | invalid |",
        "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
        "| 2 | 1 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 1 | 0 |",
        "",
        "| place | code | problem |",
        "| --- | --- | --- |",
        "| products&#46;csv&#58;3 | image&#95;failed | A-2&#58; 1 of 1 images could not be attached; https&#58;//cdn&#46;example&#46;com/fail-timeout&#46;jpg&#58; the image could not be fetched&#58; timeout |",
        "",
      ].join("\n"),
    );
  });

  test("has 20 rows and how many more there are", async () => {
    const rows = Array.from({ length: 30 }, (_, at) => `A-${at},,${url}/1.jpg`);
    const { summary } = await summaryOf("import products.csv --dry-run", ["reference,name,images", ...rows]);
    expect(summary.match(/^\| products/gm)).toHaveLength(20);
    expect(summary).toContain("| 30 | 0 | 30 |");
    expect(summary).toMatch(/\n\nand 10 more\n$/);
  });

  test("shows any text of a cell as it is", () => {
    const text = "a|b\\|c <b> `x` [a](http://x) www.x.y @me :tada: $x$ **b** _i_ ~~s~~ # 1&amp;";
    expect(inMarkdown(text)).toBe(
      "a&#124;b&#92;&#124;c &#60;b&#62; &#96;x&#96; &#91;a&#93;(http&#58;//x) www&#46;x&#46;y &#64;me &#58;tada&#58; &#36;x&#36; &#42;&#42;b&#42;&#42; &#95;i&#95; &#126;&#126;s&#126;&#126; &#35; 1&#38;amp;",
    );
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (any) => {
        const read = inMarkdown(any).replace(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code)));
        expect(read).toBe(any);
        expect(inMarkdown(any).replace(/&#\d+;/g, "")).not.toMatch(/[|\\<>`[\]*_~@:$#!&{}.\n]/);
      }),
    );
  });

  test.each(
    sampled(
      [
        ["a folder", "."],
        ["a missing folder", "missing/summary.md"],
      ],
      1,
    ),
  )("that cannot be written is a warning, and changes no exit status: %s", async (_, path) => {
    const world = await createWorld();
    world.write("products.csv", `reference,name,images\nA-1,Dress,${url}/1.jpg\n`);
    const GITHUB_STEP_SUMMARY = join(world.folder, path);
    const { exit, stderr } = await world.cat("import products.csv", {
      env: { GITHUB_ACTIONS, GITHUB_STEP_SUMMARY },
    });
    expect(exit).toBe(0);
    expect(stderr.match(/warning: .*/g)).toEqual([
      expect.stringMatching(/^warning: cannot write the job summary \(GITHUB_STEP_SUMMARY\): /),
    ]);
  });
});
