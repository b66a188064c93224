import { readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { pathPlaceholder } from "../../src/cli/flags/local-path.ts";
import { listedCommands } from "../support/listed-commands.ts";
import { createWorld } from "../support/world.ts";

describe("an address where a path is expected exits with 2, writes nothing, and names the path to type", () => {
  test.for([
    ["export sync gs://bucket/x", "DIR", "gs://", "./x"],
    ["export sync gs://bucket", "DIR", "gs://", "./bucket"],
    ["export --out GS://bucket/a/rows.csv", "--out", "gs://", "./rows.csv"],
    ["tryon --product A --save gs://bucket/x", "--save", "gs://", "./x"],
    [
      "import https://user:SECRET@example.com/products.csv?token=SECRET",
      "FILE",
      "https://",
      "./products.csv",
    ],
    ["import a.csv --images-from s3://bucket/photos", "--images-from", "s3://", "./photos"],
    ["import file:///data/products.csv", "FILE", "file://", "/data/products.csv"],
    ["images upload a.jpg 'https://example.com/my%20photo.jpg'", "FILE", "https://", "'./my photo.jpg'"],
    ["products attach A s3://bucket/a.jpg:front", "PHOTO", "s3://", "./a.jpg:front"],
    ["api POST /images -F file=@s3://bucket/a.jpg", "@FILE", "s3://", "./a.jpg"],
  ] as const)("%s", async ([line, param, scheme, path]) => {
    const world = await createWorld();
    expect(await world.cat(line)).toEqual({
      exit: 2,
      stdout: "",
      stderr:
        `error: ${param} must be a path on this computer, not an address (${scheme})\n` +
        `Use a path, for example ${path}.\n`,
    });
    expect(readdirSync(world.folder)).toEqual([]);
    expect(world.requests()).toEqual([]);
  });

  test.for([
    [
      "https://docs.google.com/spreadsheets/d/1AbC/edit?usp=sharing#gid=0",
      "Google Sheets: File > Download > Microsoft Excel (.xlsx)",
    ],
    ["HTTPS://Docs.Google.com/spreadsheets/u/0/", "Google Sheets: File > Download > Microsoft Excel (.xlsx)"],
    ["https://shop.sharepoint.com/:x:/s/team/EaB", "Excel: File > Save As > Download a Copy"],
    ["https://1drv.ms/x/s!AbC", "Excel: File > Save As > Download a Copy"],
    ["https://airtable.com/shr1", "Airtable: Download CSV"],
    ["https://www.dropbox.com/scl/fi/x/products.xlsx?dl=0", "Dropbox: Download"],
    [
      "docs.google.com/spreadsheets/d/1AbC/edit#gid=0",
      "Google Sheets: File > Download > Microsoft Excel (.xlsx)",
      "docs.google.com",
    ],
    ["Www.Dropbox.com/scl/fi/x/products.xlsx?dl=0", "Dropbox: Download", "www.dropbox.com"],
  ])(
    "of a sheet that is edited in a browser, says how to download it: %s",
    async ([url, how, shown = "https://"]) => {
      const world = await createWorld();
      expect(await world.cat(["import", url!])).toEqual({
        exit: 2,
        stdout: "",
        stderr:
          `error: FILE must be a path on this computer, not an address (${shown})\n` +
          `Download it first (in ${how}), and use the file, for example ./products.xlsx.\n`,
      });
    },
  );

  test("in CAT_HOME", async () => {
    const world = await createWorld();
    expect(await world.cat("config list", { env: { CAT_HOME: "s3://bucket/home" } })).toEqual({
      exit: 2,
      stdout: "",
      stderr:
        "error: CAT_HOME must be a path on this computer, not an address (s3://)\n" +
        "Use a path, for example ./home.\n",
    });
  });
});

describe("a path with a colon is a path", () => {
  test.for(["a:b.csv", "./a:b.csv", "./s3://a.csv", "C:\\a.csv", "c://a.csv", "./docs.google.com/a.csv"])(
    "cat import %s",
    async (name) => {
      const world = await createWorld();
      const written = name.replace("//", "/");
      world.write(written, "reference,name,image_front\nA,Dress,https://cdn.example.com/a.jpg\n");
      expect(await world.cat(["import", name, "--dry-run"])).toMatchObject({ exit: 0 });
    },
  );
});

test("every placeholder of a file or folder is known as one of a path", async () => {
  const { commands } = await listedCommands();
  const others = commands.flatMap((command) =>
    [
      ...command.arguments.map(({ name, description }) => ({ name, description })),
      ...command.flags.map(({ value, description }) => ({ name: value ?? "", description })),
    ]
      .filter(
        ({ name, description }) => !pathPlaceholder.test(name) && /\b(?:file|folder)\b/i.test(description),
      )
      .map(({ name }) => name),
  );
  expect([...new Set(others)].sort()).toEqual(["", "C", "FORMAT", "NAME", "NAME=VALUE", "PATTERN", "PLACE"]);
});
