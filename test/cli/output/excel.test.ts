import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createWorld } from "../../support/world.ts";
import { generateWorld } from "../generate/generate-world.ts";

const photo = "https://cdn.example.com/1.jpg";
const german = { LANG: "de_DE.UTF-8" };
const header = "file_line,line,reference,status,action,product_id,error_code,error_message,images";

async function importing(content: string | Buffer, flags = "") {
  const world = await createWorld({ env: { LANG: undefined, LC_ALL: undefined, LC_NUMERIC: undefined } });
  writeFileSync(join(world.folder, "a.csv"), content);
  const ran = await world.cat(`import a.csv --results results.csv --no-progress ${flags}`);
  expect(ran.exit, ran.stderr).toBe(0);
  return { ...world, results: readFileSync(join(world.folder, "results.csv")) };
}

describe("a results file follows its CSV input", () => {
  test("in delimiter, encoding, line ends and byte order mark", async () => {
    const latin = Buffer.from(`reference;name;images\r\ngrün;Kleid;${photo}\r\n`, "latin1");
    const { results } = await importing(latin, "--encoding windows-1252");
    const [first, second] = results.toString("latin1").split("\r\n");
    expect(first).toBe(header.replaceAll(",", ";"));
    expect(second).toMatch(/^2;1;grün;succeeded;created;/);
    const marked = await importing(`\ufeffreference\tname\timages\nä\tKleid\t${photo}\n`);
    expect(marked.results.toString().startsWith(`\ufeff${header.replaceAll(",", "\t")}\n2\t1\tä\t`)).toBe(
      true,
    );
    const wide = Buffer.from(`\ufeffreference,name,images\nä,Kleid,${photo}\n`, "utf16le");
    expect((await importing(wide)).results.toString("utf16le")).toContain(`\ufeff${header}\n2,1,ä,`);
  });

  test("and is plain CSV for plain CSV and NDJSON", async () => {
    const { results } = await importing(`reference,name,images\nä,Kleid,${photo}\n`);
    expect(results.toString().startsWith(`${header}\n2,1,ä,`)).toBe(true);
    const row = JSON.stringify({ reference: "ä", name: "Kleid", images: [{ url: photo }] });
    const { results: ofJson } = await importing(`${row}\n`, "--format ndjson");
    expect(ofJson.toString().startsWith(`${header}\n1,1,ä,`)).toBe(true);
  });

  test("in tryon too, and so do the decisions of a gallery", async () => {
    const world = await generateWorld();
    const [one] = world.products();
    world.write(
      "looks.csv",
      `product_reference;model_id;background;angle_shot\r\n${one!.reference};mdl_001;studio;full-front\r\n`,
    );
    const ran = await world.cat(
      "tryon looks.csv --yes --results r.csv --gallery g.html --save out --no-progress",
    );
    expect(ran.exit, ran.stderr).toBe(0);
    expect(world.read("r.csv")).toMatch(/^line;task_id;status;.*\r\n2;/);
    expect(world.read("g.html")).toContain('"csv":{"delimiter":";","lineEnd":"\\r\\n","marked":false}');
    // The list in the folder is of several commands.
    expect(world.read("out/results.csv")).toMatch(/^line,task_id,status,.*\n2,/);
    const { task_id } = JSON.parse(world.read("out/results.ndjson").split("\n")[0]!);
    const saved = await world.cat(`tasks save ${task_id} --save out --excel`, { env: german });
    expect(saved.exit, saved.stderr).toBe(0);
    expect(world.read("out/results.csv")).toMatch(/^\ufeffline;task_id;status;.*\r\n2;/);
    expect((await world.cat(`tasks save ${task_id} --save out`)).exit).toBe(0);
    expect(world.read("out/results.csv")).toMatch(/^line,task_id,status,.*\n2,/);
  });
});

describe("--excel", () => {
  test("writes a mark, CRLF, and the delimiter of the locale", async () => {
    const world = await createWorld({ mock: { demo: 1 }, env: { LANG: undefined } });
    const first = async (flags: string, env: Record<string, string | undefined> = {}) =>
      (await world.cat(`products list --fields reference,name ${flags}`, { env })).stdout.split("name")[0];
    expect(await first("--excel", german)).toBe("\ufeffreference;");
    expect(await first("--excel", { LANG: "en_US.UTF-8" })).toBe("\ufeffreference,");
    expect(await first("--excel", { LANG: "en_US", LC_NUMERIC: "fr_FR@euro" })).toBe("\ufeffreference;");
    expect(await first("--excel", { LANG: "de_DE", LC_ALL: "C.UTF-8" })).toBe("\ufeffreference,");
    expect(await first("--excel", { LANG: "" })).toBe("\ufeffreference,");
    expect(await first("--format csv", german)).toBe("reference,");
    const { stdout } = await world.cat("products list --excel", { env: german });
    expect(stdout.endsWith("\r\n")).toBe(true);
  });

  test("is remembered in the profile, and --no-excel wins", async () => {
    const world = await createWorld({ mock: { demo: 1 } });
    expect((await world.cat("config set excel yes")).stderr).toBe(
      "error: invalid excel: use true or false\nTo remove it: cat config unset excel\n",
    );
    expect((await world.cat("config set excel true")).stderr).toBe("Set excel of profile default.\n");
    expect((await world.cat("config get excel")).stdout).toBe("true\n");
    const csv = async (flags: string) =>
      (await world.cat(`products list --format csv ${flags}`, { env: german })).stdout.slice(0, 4);
    expect([await csv(""), await csv("--no-excel")]).toEqual(["\ufeffid;", "id,r"]);
    // The profile changes CSV only.
    expect((await world.cat("products list --json")).stdout[0]).toBe("{");
    await world.cat("config unset excel");
    expect(await csv("")).toBe("id,r");
  });

  test("means CSV, and no other format", async () => {
    const world = await createWorld({ mock: { demo: 1 } });
    const { exit, stderr } = await world.cat("products list --excel --format ndjson");
    expect([exit, stderr]).toEqual([
      2,
      "error: --excel cannot be used with --format ndjson\nRemove one of them: only CSV is written for Excel.\n",
    ]);
    expect((await world.cat("export --excel", { env: german })).stdout).toMatch(
      /^\ufeffproduct_id;reference;name;.*\r\n/,
    );
  });

  test("changes results and exports, with quotes where the delimiter needs them, and an import reads its products", async () => {
    const world = await createWorld({ env: german });
    world.write("a.csv", `reference,name,description,images\nA;1,"a;b","x, y",${photo}\n`);
    const ran = await world.cat("import a.csv --results r.csv --excel --no-progress");
    expect(ran.exit, ran.stderr).toBe(0);
    expect(world.read("r.csv")).toMatch(/^\ufefffile_line;line;.*\r\n2;1;"A;1";succeeded;/);
    expect((await world.cat("export --excel --out e.csv")).exit).toBe(0);
    expect(world.read("e.csv")).toMatch(/\r\n[^;]+;"A;1";"a;b";/);
    const sheet = (await world.cat("products list --for-import --excel")).stdout;
    expect(sheet).toMatch(/^\ufeffreference;name;description;sex;images;as_exported\r\n"A;1";"a;b";x, y;;/);
    world.write("again.csv", sheet);
    const again = await world.cat("import again.csv --json --no-progress");
    expect(JSON.parse(again.stdout)).toMatchObject({ total: 1, unchanged: 1 });
  });
});
