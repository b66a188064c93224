import { readdirSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { describe, expect, test, vi } from "vitest";
import { sampled } from "../../support/repetitions.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { createWorld } from "../../support/world.ts";
import { workbookOf } from "../../support/write-workbook.ts";

const photo = (name: string) => `https://cdn.example.com/${name}.jpg`;
const csv = `reference,name,images\nA,Kleid grün,${photo("1")}\nB,Hose,${photo("2")}\n`;
const ndjson = `${JSON.stringify({ reference: "A", name: "Rock", images: [{ url: photo("1") }] })}\n`;
const book = workbookOf({
  Sheet1: [
    ["reference", "name", "images"],
    ["A", "Rock", photo("1")],
  ],
});

async function worldWith(name: string, bytes: Uint8Array) {
  const world = await createWorld();
  world.write(name, bytes);
  return { ...world, names: () => world.products().map(({ name }) => name) };
}

describe("a file compressed with gzip is read like the file in it", () => {
  test.each(
    sampled(
      [
        ["a.csv.gz", csv, ["Kleid grün", "Hose"]],
        ["A.CSV.GZ", csv, ["Kleid grün", "Hose"]],
        ["a.gz", csv, ["Kleid grün", "Hose"]],
        ["a.csv", csv, ["Kleid grün", "Hose"]],
        ["a.ndjson.gz", ndjson, ["Rock"]],
        ["a.data.gz", ndjson, ["Rock"]],
        ["a.xlsx.gz", book, ["Rock"]],
        ["a.csv.gz", Buffer.from(`\ufeff${csv}`, "utf16le"), ["Kleid grün", "Hose"]],
      ],
      3,
    ),
  )("named %s", async (name, content, expected) => {
    const { cat, names } = await worldWith(name, gzipSync(content));
    const ran = await cat(["import", name]);
    expect(ran).toMatchObject({ exit: 0, stdout: "" });
    expect(names()).toEqual(expected);
  });

  test.each(
    sampled(
      [
        ["CSV", csv, 2],
        ["NDJSON", ndjson, 1],
        ["a workbook", book, 1],
      ],
      1,
    ),
  )("%s on standard input", async (_, content, rows) => {
    const { cat, products } = await worldWith("other.csv", Buffer.from(""));
    expect((await cat("import -", { stdin: gzipSync(content) })).exit).toBe(0);
    expect(products()).toHaveLength(rows);
  });

  test("several compressed parts in one file are all read", async () => {
    const parts = [csv, `C,Rock,${photo("3")}\n`].map((text) => gzipSync(text));
    const { cat, names } = await worldWith("a.csv.gz", Buffer.concat(parts));
    expect((await cat("import a.csv.gz")).exit).toBe(0);
    expect(names()).toEqual(["Kleid grün", "Hose", "Rock"]);
  });

  test("of a list of products to export", async () => {
    const { cat } = await worldWith("list.csv.gz", gzipSync("reference\nDRESS-001\n"));
    const ran = await cat("export --manifest --products-from list.csv.gz --json --out m.json");
    expect(ran.exit).toBe(3);
    expect(ran.stderr).toContain("list.csv.gz names 1 unknown product out of 1");
  });

  test("of images to generate", async () => {
    const rows = "product_reference,model_id,background,angle_shot\nNONE,Mia,studio,full-front\n";
    const { cat } = await worldWith("looks.csv.gz", gzipSync(rows));
    const ran = await cat("tryon looks.csv.gz --dry-run");
    expect(ran.exit).toBe(3);
    expect(ran.stderr).toContain("looks.csv.gz:2  product_reference  product_not_found");
  });
});

test("its failed rows are not compressed, and are named after the file in it", async () => {
  const rows = `${csv}C,Rock,${photo("fail-timeout")}\n`;
  const { cat, read } = await worldWith("sub/a.csv.gz", gzipSync(rows));
  const ran = await cat("import sub/a.csv.gz");
  expect(ran.exit).toBe(8);
  expect(ran.stderr).toContain("  cat import sub/a.failed.csv\n");
  expect(read("sub/a.failed.csv")).toContain("C,Rock,");
});

test("its photos are next to it", async () => {
  const { cat, write } = await worldWith("sub/a.csv.gz", gzipSync("reference,name,images\nA,Dress,1.jpg\n"));
  expect((await cat("import sub/a.csv.gz --dry-run")).stderr).toContain("photo_not_found");
  write("sub/1.jpg", Buffer.from("ffd8ffe000104a46494600010100000100010000ffd9", "hex"));
  expect((await cat("import sub/a.csv.gz --dry-run")).stderr).not.toContain("photo_not_found");
});

test("a stopped run is resumed, also after the file was expanded", async () => {
  const { cat, mock, write, products } = await worldWith("a.csv.gz", gzipSync(csv));
  await fetch(`${mock.baseUrl}/_mock/faults`, {
    method: "POST",
    body: JSON.stringify({ match: { method: "GET", path: "/v1/imports" }, times: 1, status: 403 }),
  });
  expect((await cat("import a.csv.gz")).exit).toBe(4);
  write("a.csv", csv);
  const ran = await cat("import a.csv");
  expect(ran.exit).toBe(0);
  expect(ran.stderr).toMatch(/^Resuming the import of a\.csv started at .*: 2 rows already sent\./);
  expect(products()).toHaveLength(2);
});

describe("what cannot be expanded is rejected with one clear line, and leaves no copy", () => {
  const [small, zeros] = [gzipSync(csv), gzipSync(Buffer.alloc(20_000_000))];
  const broken = Buffer.from(small);
  broken[broken.length - 6]! ^= 1;
  test.each(
    sampled([
      ["a cut one", small.subarray(0, -5), "a.csv.gz is damaged or incomplete: it cannot be expanded"],
      ["a damaged one", broken, "a.csv.gz is damaged or incomplete: it cannot be expanded"],
      ["one followed by other bytes", Buffer.concat([small, Buffer.from("x")]), null],
      ["one in another", gzipSync(small), "a.csv.gz is compressed twice"],
      ["one with an endless line", zeros, "a.csv.gz has a line of more than 8 MiB"],
      ["a web page", gzipSync("<!doctype html><html>"), "a.csv.gz is a web page, not rows"],
    ]),
  )("%s", async (_, bytes, message) => {
    const { cat } = await worldWith("a.csv.gz", bytes);
    // Other tests copy at the same time.
    const temporary = temporaryFolder();
    vi.stubEnv("TMPDIR", temporary);
    const ran = await cat("import a.csv.gz");
    expect(ran).toMatchObject({ exit: 3, stdout: "" });
    expect(ran.stderr.split("\n")).toHaveLength(3);
    expect(ran.stderr).toContain(`error: ${message ?? "a.csv.gz is damaged"}`);
    expect((await cat("import -", { stdin: bytes })).exit).toBe(3);
    expect(readdirSync(temporary)).toEqual([]);
    vi.unstubAllEnvs();
  });
});

test.each(
  sampled([
    ["bzip2", "compressed with bzip2", "BZh91AY&SY"],
    ["xz", "compressed with xz", "\u00fd7zXZ\0"],
    ["zstd", "compressed with zstd", "\u0028\u00b5\u002f\u00fd"],
    ["7z", "a 7z archive", "7z\u00bc\u00af\u0027\u001c"],
    ["RAR", "a RAR archive", "Rar!\u001a\u0007"],
    ["tar", "a tar archive", `${"x".repeat(257)}ustar`],
  ]),
)("a file of %s is rejected, also within gzip", async (_, what, head) => {
  const world = await createWorld();
  const bytes = Buffer.from(head, "latin1");
  world.write("p.csv", bytes);
  world.write("q.csv.gz", gzipSync(bytes));
  for (const file of ["p.csv", "q.csv.gz"])
    expect(await world.cat(`import ${file}`)).toEqual({
      exit: 3,
      stdout: "",
      stderr: `error: ${file} is ${what}, not rows\nExpand it, and use a file in it.\n`,
    });
});
