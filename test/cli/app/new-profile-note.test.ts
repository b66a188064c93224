import { expect, test } from "vitest";
import { createWorld } from "../../support/world.ts";

const row = "reference,name,images\nA,Dress,https://cdn.example.com/1.jpg\n";

async function worldWithProfiles(config: string = JSON.stringify({ profiles: { prod: {}, staging: {} } })) {
  const world = await createWorld();
  world.write("a.csv", row);
  world.write(".home/config.json", config);
  return world;
}

const noteOf = (stderr: string): string[] => stderr.split("\n").filter((line) => line.startsWith("Profile "));

test("an import with an unknown profile reports once, on stderr, that its ledger is empty", async () => {
  const world = await worldWithProfiles();
  const first = await world.cat("import a.csv --profile prodd");
  expect(first.exit).toBe(0);
  expect(first.stdout).not.toContain("prodd");
  expect(noteOf(first.stderr)).toEqual([
    "Profile prodd is not in the settings; it starts with an empty ledger. Did you mean prod?",
  ]);
  expect(noteOf((await world.cat("import a.csv --profile prodd")).stderr)).toEqual([]);
});

test("the note has no question if no name is near, and comes for CAT_PROFILE and other flows as well", async () => {
  const world = await worldWithProfiles();
  const env = { CAT_PROFILE: "nightly" };
  const ran = await world.cat("export --since last --out all.ndjson", { env });
  expect(noteOf(ran.stderr)).toEqual([
    "Profile nightly is not in the settings; it starts with an empty ledger.",
  ]);
});

test.for([
  ["a profile of the settings", "import a.csv --profile prod"],
  ["the default profile", "import a.csv"],
  ["--quiet", "import a.csv --profile prodd --quiet"],
  ["--json", "import a.csv --profile prodd --json"],
  ["--mock", "import a.csv --profile prodd --mock"],
  ["cat doctor", "doctor --profile prodd"],
] as const)("no note appears for %s", async ([, line]) => {
  const world = await worldWithProfiles();
  expect(noteOf((await world.cat(line)).stderr)).toEqual([]);
});

test("a list keeps no names for an unknown profile, so that the import reports it", async () => {
  const world = await worldWithProfiles();
  expect(noteOf((await world.cat("products list --profile prodd", { tty: true })).stderr)).toEqual([]);
  expect(noteOf((await world.cat("import a.csv --profile prodd")).stderr)).toHaveLength(1);
});

test("a config file that cannot be read does not stop an import with a profile of its own", async () => {
  const world = await worldWithProfiles("{");
  const ran = await world.cat("import a.csv --profile ci");
  expect(ran.exit).toBe(0);
  expect(noteOf(ran.stderr)).toEqual([]);
});
