import { expect, test } from "vitest";
import { screenOf } from "../../support/screen.ts";
import { until } from "../../support/until.ts";
import { createWorld } from "../../support/world.ts";

const cdn = "https://cdn.example.com";
const rows = `reference,name,images\nOK,Dress,${cdn}/1.jpg\nBAD,Coat,${cdn}/fail-timeout.jpg\n`;

test.each([80, 120])("on a terminal of %i columns the summary replaces the progress", async (columns) => {
  const world = await createWorld({ tty: true, columns });
  world.write("a.csv", rows);
  const ran = await world.cat("import a.csv", { tty: { stdout: true, stderr: true } });
  expect(ran.stderr).toContain("checking the file");
  expect(screenOf(ran.stderr)).toEqual([
    "Imported 1 of 2 rows from a.csv in 5.0 s: 1 created.",
    "  1 row failed",
    ...(columns === 80
      ? [
          "    a.csv:3  BAD  1 of 1 images could not be attached;",
          `    ${cdn}/fail-timeout.jpg: the image could not be fetched:`,
          "    timeout",
        ]
      : [
          `    a.csv:3  BAD  1 of 1 images could not be attached; ${cdn}/fail-timeout.jpg: the image could not be`,
          "    fetched: timeout",
        ]),
    "Failed rows are in a.failed.csv, with the reasons. Fix them there, then run:",
    "  cat import a.failed.csv",
  ]);
});

test("on a terminal no progress stays above problems and errors", async () => {
  const world = await createWorld();
  world.write("a.csv", `${rows}OK,Dress,${cdn}/1.jpg\n`);
  const ran = await world.cat("import a.csv --dry-run", { tty: { stdout: true, stderr: true } });
  expect(ran.exit).toBe(3);
  expect(screenOf(ran.stderr)).toEqual([
    'reference  duplicate reference "OK", first used on line 2',
    "           a.csv: line 4",
    "2 rows are of 1 product, such as one row per photo or size. Import the rows of",
    "each as one product with --merge-rows.",
    "error: a.csv has 1 invalid row out of 3; nothing was sent",
    "To import the rows of each reference as one product, add --merge-rows.",
    "Otherwise, fix the file and run the command again, or add --skip-invalid to",
    "import the valid rows.",
  ]);
});

test("after Ctrl-C no progress stays, and the cursor is visible", async () => {
  const world = await createWorld();
  world.write("a.csv", rows);
  const ran = world.cat("import a.csv", { tty: { stdout: true, stderr: true } });
  await until(() => world.requests().some(({ method }) => method === "POST"));
  ran.interrupt();
  const { exit, stderr } = await ran;
  expect(exit).toBe(130);
  const screen = screenOf(stderr);
  expect(screen.slice(0, 2)).toEqual([
    "Stopping; requests in flight may still finish. Press Ctrl-C again to stop",
    "immediately.",
  ]);
  expect(screen.at(-1)).toBe("interrupted");
  expect(screen.join("\n")).not.toMatch(/checking|comparing|sending|importing/);
  expect(stderr.lastIndexOf("\u001b[?25h")).toBeGreaterThan(stderr.lastIndexOf("\u001b[?25l"));
});
