import { expect, test } from "vitest";
import { safeFilename } from "../../src/contract/image-file.ts";
import { partName } from "../../src/flows/files/file-names.ts";
import { newXmp, withLabel } from "../../src/flows/files/xmp.ts";
import { odsParts, parts } from "../flows/workbook/raw-workbook.ts";
import { longTest } from "../support/long-test.ts";
import { processorTime } from "../support/processor-time.ts";
import { rawZip } from "../support/raw-zip.ts";
import { sampled } from "../support/repetitions.ts";
import { createWorld } from "../support/world.ts";
import { serviceInFront } from "./every-command/service-in-front.ts";
import { syncWorld } from "./export/sync-world.ts";

/** Processor time for 50 kB in milliseconds: an expression that is quadratic takes 4 s and more for it. */
const most = 1_500;
/** Texts on which an expression that looks for the end of a run is slow. */
const runs = [". ", "/", "0", '"', "\\", "(", "a", "//a@", "=a:", "\n", "\u3000"];
const long = (run: string): string => `${run.repeat(Math.ceil(50_000 / run.length))}x.`;

async function shopWithMessage(message: string) {
  const world = await createWorld();
  const front = await serviceInFront(world.mock.baseUrl);
  front.change = (passing) => {
    passing.status = 400;
    passing.json = { error: { type: "invalid_request", code: "invalid_request", message, param: "q" } };
  };
  return (line: string) => world.cat(line, { env: { CAT_BASE_URL: front.origin } });
}

test("a message of the service of 50 kB is shown to people with 500 characters, and with --json as it is", async () => {
  const cat = await shopWithMessage(`${"é".repeat(50_000)}.`);
  const { exit, stdout, stderr } = await cat("products list");
  expect([exit, stdout]).toEqual([3, ""]);
  expect(stderr.replace(/, request [^)]*/, "")).toBe(
    `error: ${"é".repeat(499)}… (GET /v1/products: 400 invalid_request)\n` +
      "Fix the value that the message names, and run the command again.\n",
  );
  const json = JSON.parse((await cat("products list --json")).stderr);
  expect(json.error.message).toContain("é".repeat(50_000));
});

test.each(sampled(runs, 3))("a message of 50 kB of %j takes no time", async (run) => {
  const cat = await shopWithMessage(long(run));
  expect(await processorTime(() => cat("products list"))).toBeLessThan(most);
  expect(await processorTime(() => cat("products list --json"))).toBeLessThan(most);
});

test("a table and a single resource show 500 characters of a text, and URLs as they are", async () => {
  const world = await createWorld({ mock: { demo: 1 } });
  const front = await serviceInFront(world.mock.baseUrl);
  const url = `https://cdn.example.com/${"a".repeat(1_000)}.jpg`;
  front.change = (passing) => {
    passing.json = JSON.parse(
      JSON.stringify(passing.json ?? null, (name, value) =>
        name === "name" ? "n".repeat(50_000) : name === "description" ? url : value,
      ),
    );
  };
  const cat = async (line: string) => (await world.cat(line, { env: { CAT_BASE_URL: front.origin } })).stdout;
  const [{ id }] = JSON.parse(await cat("products list --format json")) as [{ id: string }];
  const one = await cat(`products get ${id}`);
  expect(one).toContain(`${"n".repeat(499)}…\n`);
  expect(one).not.toContain("n".repeat(500));
  expect(one).toContain(url);
  expect(await cat(`products get ${id} --json`)).toContain("n".repeat(50_000));
  const list = await cat("products list");
  expect(list).toContain(`${"n".repeat(499)}…`);
  expect(list).not.toContain("n".repeat(500));
  expect(await cat("products list --format csv")).toContain("n".repeat(50_000));
});

/** A workbook of 2.6 kB: a number of a million digits. */
const digits = `${"1".repeat(1_000_000)}x`;

test.each(
  sampled(
    [
      [
        "xlsx",
        parts(
          `<row r="1"><c r="A1" t="inlineStr"><is><t>reference</t></is></c></row><row r="2"><c r="A2"><v>${digits}</v></c></row>`,
        ),
      ],
      [
        "ods",
        odsParts(
          `<table:table table:name="S"><table:table-row><table:table-cell office:value-type="string"><text:p>reference</text:p></table:table-cell></table:table-row><table:table-row><table:table-cell office:value-type="float" office:value="${digits}"><text:p>1</text:p></table:table-cell></table:table-row></table:table>`,
        ),
      ],
    ],
    1,
  ),
)("a hostile number in an .%s takes no time", async (ending, content) => {
  const world = await createWorld();
  const file = rawZip(content);
  expect(file.length).toBeLessThan(6_000);
  world.write(`a.${ending}`, file);
  let exit = 0;
  const time = await processorTime(async () => {
    exit = (await world.cat(`import a.${ending} --dry-run`)).exit;
  });
  expect(exit).toBe(3);
  expect(time).toBeLessThan(2 * most);
});

test.each([
  [
    "spaces",
    `${newXmp("trainedAlgorithmicMedia").replace(/Iptc4xmpExt:DigitalSourceType="[^"]*"/, "")}${" ".repeat(500_000)}x`,
  ],
  ["elements within each other", `<a xmlns:b="b">${"<b:c>".repeat(100_000)}`],
  ["ends", "</rdf:".repeat(100_000)],
  ["attributes", ` rdf:about="`.repeat(50_000)],
])("hostile XMP takes no time: %s", async (_, xmp) => {
  expect(await processorTime(() => withLabel(xmp, "trainedAlgorithmicMedia"))).toBeLessThan(most);
});

test.each(sampled(runs, 3))("names of files of %j take no time", async (run) => {
  const text = long(run).repeat(4);
  const time = await processorTime(() => {
    expect(Buffer.byteLength(safeFilename(text, ".jpg"))).toBeLessThanOrEqual(201);
    expect(Buffer.byteLength(partName(text.replaceAll("/", "_")))).toBeLessThanOrEqual(255);
  });
  expect(time).toBeLessThan(most);
});

longTest("a mirror takes references and suggested names of 50 kB", async () => {
  const world = await syncWorld();
  const front = await serviceInFront(world.mock.baseUrl);
  const text = long(". ");
  front.change = (passing) => {
    passing.json = JSON.parse(
      JSON.stringify(passing.json ?? null, (name, value) =>
        ["reference", "suggested_filename"].includes(name) && typeof value === "string"
          ? value + text
          : value,
      ),
    );
    passing.json ??= undefined;
  };
  const time = await processorTime(async () => {
    const template = "{reference}/{reference}-{id}{ext}";
    const { exit, stderr } = await world.cat(["export", "sync", "photos", "--template", template], {
      env: { CAT_BASE_URL: front.origin },
    });
    expect({ exit, stderr }).toMatchObject({ exit: 0 });
    expect((await world.cat("export sync names", { env: { CAT_BASE_URL: front.origin } })).exit).toBe(0);
  });
  expect(time).toBeLessThan(4 * most);
});

test("a base URL of 50 kB is rejected", async () => {
  const world = await createWorld();
  expect(await world.cat(["products", "list", "--base-url", `https://${".".repeat(50_000)}`])).toEqual({
    exit: 2,
    stdout: "",
    stderr:
      "error: the base URL is longer than 2,048 characters (from --base-url)\nUse https://HOST, without /v1.\n",
  });
});

longTest("a cell with 16,000 photos takes no time", async () => {
  const world = await createWorld();
  world.write("a.csv", `reference,name,images\nA-1,Dress,${"a|".repeat(16_000)}\n`);
  let ran: Awaited<ReturnType<typeof world.cat>> | undefined;
  const took = await processorTime(async () => {
    ran = await world.cat("import a.csv --dry-run");
  });
  expect(ran!.exit).toBe(3);
  expect(ran!.stderr).toContain("images has 16000 entries; at most 20");
  expect(took).toBeLessThan(2 * most);
});
