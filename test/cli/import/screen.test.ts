import { expect, test } from "vitest";
import { screenOf } from "../../support/screen.ts";
import { createWorld } from "../../support/world.ts";

const cdn = "https://cdn.example.com";
const rows = `reference,name,images\nOK,Dress,${cdn}/1.jpg\nBAD,Coat,${cdn}/fail-timeout.jpg\n`;

test.each([80, 120])(
  "on a terminal of %i columns the summary takes the place of the progress",
  async (columns) => {
    const world = await createWorld({ tty: true, columns });
    world.write("a.csv", rows);
    const ran = await world.cat("import a.csv", { tty: { stdout: true, stderr: true } });
    expect(ran.stderr).toContain("checking");
    expect(screenOf(ran.stderr)).toEqual([
      "Imported 1 of 2 rows from a.csv in 5.0 s: 1 created.",
      "  1 row failed",
      "What did not make it is in a.failed.csv, with the reason. Put it right, then run:",
      "  cat import a.failed.csv",
    ]);
  },
);

test("on a terminal nothing of the progress stays above the problems of a file, or its error", async () => {
  const world = await createWorld();
  world.write("a.csv", `${rows}OK,Dress,${cdn}/1.jpg\n`);
  const ran = await world.cat("import a.csv --dry-run", { tty: { stdout: true, stderr: true } });
  expect(ran.exit).toBe(3);
  expect(screenOf(ran.stderr).map((line) => line.slice(0, 26))).toEqual([
    "a.csv:4  reference  duplic",
    "error: 1 of 3 rows of a.cs",
    "Mend them and run the comm",
  ]);
});

test("after Ctrl-C nothing of the progress stays, and the cursor is back", async () => {
  const world = await createWorld();
  world.write("a.csv", rows);
  const ran = world.cat("import a.csv", { tty: { stdout: true, stderr: true } });
  while (!world.requests().some(({ method }) => method === "POST"))
    await new Promise((resolve) => setImmediate(resolve));
  ran.interrupt();
  const { exit, stderr } = await ran;
  expect(exit).toBe(130);
  const screen = screenOf(stderr);
  expect(screen[0]).toBe(
    "Stopping; requests in flight may still finish. Press Ctrl-C again to stop at once.",
  );
  expect(screen.at(-1)).toBe("interrupted");
  expect(screen.join("\n")).not.toMatch(/checking|comparing|sending|processing/);
  expect(stderr.lastIndexOf("\u001b[?25h")).toBeGreaterThan(stderr.lastIndexOf("\u001b[?25l"));
});
