import { expect, test } from "vitest";
import { until } from "../../support/until.ts";
import { createWorld } from "../../support/world.ts";

test.each([
  ["", "To resume, run the same command again (nothing is sent twice):\n  cat import a.csv\n"],
  ["--json", ""],
])("a second interrupt prints the command that resumes, which the summary would: %j", async (flags, told) => {
  const world = await createWorld();
  world.write("a.csv", "reference,name,images\nA1,Dress,https://cdn.example.com/1.jpg\n");
  world.mock.faults.add({ match: { method: "POST" }, delay_ms: 2_000 });
  const running = world.cat(`import a.csv ${flags}`.trim());
  await until(() => world.clock.nextDue() !== null);
  running.interrupt();
  const before = running.stderr.length;
  running.interrupt();
  expect(running.stderr.slice(before)).toContain(told);
  if (told === "") expect(running.stderr.slice(before)).toBe("");
  world.clock.advance(10_000);
  expect((await running).exit).toBe(130);
});
