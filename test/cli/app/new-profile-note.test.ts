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

test("an import with an unknown profile reports on stderr that its ledger is empty, while it is", async () => {
  const world = await worldWithProfiles();
  const first = await world.cat("import a.csv --profile prodd");
  expect(first.exit).toBe(0);
  expect(first.stdout).not.toContain("prodd");
  expect(noteOf(first.stderr)).toEqual([
    "Profile prodd is not in the settings; it starts with an empty ledger. Did you mean prod?",
  ]);
  expect(noteOf((await world.cat("import a.csv --profile prodd")).stderr)).toEqual([]);
});

test("the note has no question if no name is near, and comes for CAT_PROFILE as well", async () => {
  const world = await worldWithProfiles();
  const env = { CAT_PROFILE: "nightly" };
  const ran = await world.cat("import a.csv", { env });
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
  ["a dry run", "import a.csv --profile prodd --dry-run"],
  ["cat doctor", "doctor --profile prodd"],
  ["cat export", "export --since last --out all.ndjson --profile prodd"],
  ["cat imports list", "imports list --profile prodd"],
] as const)("no note appears for %s", async ([, line]) => {
  const world = await worldWithProfiles();
  expect(noteOf((await world.cat(line)).stderr)).toEqual([]);
});

test.for([["products list"], ["imports list"], ["export --since last --out all.ndjson"]] as const)(
  "an import after %s still reports that the ledger is empty",
  async ([line]) => {
    const world = await worldWithProfiles();
    expect(noteOf((await world.cat(`${line} --profile prodd`, { tty: true })).stderr)).toEqual([]);
    expect(noteOf((await world.cat("import a.csv --profile prodd")).stderr)).toHaveLength(1);
  },
);

test("the note comes again if the first import recorded nothing", async () => {
  const world = await worldWithProfiles();
  world.write("bad.csv", "reference,name,images\nA,,https://cdn.example.com/1.jpg\n");
  expect((await world.cat("import bad.csv --profile prodd")).exit).not.toBe(0);
  expect(
    (await world.cat("import a.csv --profile prodd", { env: { CAT_API_KEY: "ak_mock_revoked" } })).exit,
  ).toBe(4);
  expect(noteOf((await world.cat("import a.csv --profile prodd")).stderr)).toHaveLength(1);
});

test("a config file that cannot be read does not stop an import with a profile of its own", async () => {
  const world = await worldWithProfiles("{");
  const ran = await world.cat("import a.csv --profile ci");
  expect(ran.exit).toBe(0);
  expect(noteOf(ran.stderr)).toEqual([]);
});
