import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { expect } from "vitest";
import { longTest } from "../support/long-test.ts";
import { catalogueProgram, needsBuild } from "../support/spawn-cat.ts";
import { createWorld } from "../support/world.ts";
import { blocksOf } from "./pages/blocks.ts";

const page = readFileSync(fileURLToPath(new URL("../../docs/exports.md", import.meta.url)), "utf8");
const files = new Map(blocksOf(page).map(({ label, lines }) => [label, lines]));
const file = (name: string): readonly string[] => {
  const lines = files.get(name);
  if (lines === undefined) throw new Error(`docs/exports.md has no ${name}`);
  return lines;
};

/** The commands of each job, as its system runs them: one after another, until one fails. */
const jobs: [system: string, commands: string[]][] = [
  ["cron", file("nightly.cron").flatMap((line) => /^\d+ \d+ \* \* \* (.*)$/.exec(line)?.slice(1) ?? [])],
  [
    "GitHub Actions",
    file(".github/workflows/catalogue.yml").flatMap((line) => /^ +- run: (.*)$/.exec(line)?.slice(1) ?? []),
  ],
  [
    "GitLab",
    file(".gitlab-ci.yml")
      .slice(file(".gitlab-ci.yml").indexOf("  script:") + 1)
      .flatMap((line) => /^ {4}- (.*)$/.exec(line)?.slice(1) ?? []),
  ],
];

longTest("the page has a command line for cron and two for each CI system", () => {
  expect(jobs).toEqual([
    ["cron", ["cd /srv/catalogue && . ./catalogue.env && sh nightly.sh"]],
    ["GitHub Actions", ["npm ci --ignore-scripts", "sh nightly.sh"]],
    ["GitLab", ["npm ci --ignore-scripts", "sh nightly.sh"]],
  ]);
});

longTest.each([".github/workflows/catalogue.yml", ".gitlab-ci.yml"])(
  "%s keeps the state and the images",
  (name) => {
    const text = file(name).join("\n");
    expect(text).toMatch(/CAT_HOME: .*\/state$/m);
    expect(text).toMatch(/path: \|\n +state\n +images\n|paths: \[state, images\]\n/);
    expect(text).toMatch(/path: exports$|paths: \[exports\]$/m);
  },
);

/** A machine with the files of the page and the program, and a service with one product. */
async function machine() {
  needsBuild();
  const world = await createWorld();
  const folder = join(world.folder, "srv");
  const write = (name: string, lines: readonly string[]) => {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, `${lines.join("\n")}\n`);
  };
  write("nightly.sh", file("nightly.sh"));
  const real = (line: string) =>
    line
      .replace("https://imaging.example.com", world.mock.baseUrl)
      .replace("ak_...", world.mock.apiKey)
      .replaceAll("/srv/catalogue", folder);
  write("catalogue.env", file("catalogue.env").map(real));
  mkdirSync(join(folder, "node_modules/.bin"), { recursive: true });
  symlinkSync(catalogueProgram, join(folder, "node_modules/.bin/catalogue"));
  // Installing is not what is tested, and would need a registry.
  const bin = join(world.folder, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "npm"), '#!/bin/sh\n[ "$*" = "ci --ignore-scripts" ]\n', { mode: 0o755 });

  const addProduct = async (reference: string) => {
    const csv = `reference,name,image_front\n${reference},Dress,https://cdn.example.com/${reference}.jpg\n`;
    expect((await world.cat("import -", { stdin: csv })).exit).toBe(0);
  };
  const night = async (system: string, commands: readonly string[]) => {
    world.clock.advance(24 * 3_600_000);
    // The nights of a test can be within one second of this machine, in which they would write the same file.
    const now = new Date(world.clock.now()).toISOString().replace(/[-:]|\.\d+/g, "");
    writeFileSync(join(bin, "date"), `#!/bin/sh\n[ "$*" = "-u +%Y%m%dT%H%M%SZ" ] && echo ${now}\n`, {
      mode: 0o755,
    });
    const before = exports();
    const settings =
      system === "cron"
        ? {}
        : {
            CAT_BASE_URL: world.mock.baseUrl,
            CAT_API_KEY: world.mock.apiKey,
            CAT_HOME: join(folder, "state"),
          };
    const script = commands.map(real).join(" && ");
    const { exitCode, stdout, stderr } = await execa("sh", ["-c", script], {
      cwd: folder,
      reject: false,
      extendEnv: false,
      env: { PATH: `${bin}:${dirname(process.execPath)}:/usr/bin:/bin`, HOME: world.folder, ...settings },
    });
    const added = exports().filter((name) => !before.includes(name));
    const references = added.flatMap((name) =>
      readFileSync(join(folder, "exports", name), "utf8")
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line).product.reference),
    );
    return { exitCode, stdout, stderr, files: added.length, references };
  };
  const exports = () => {
    try {
      return readdirSync(join(folder, "exports"));
    } catch {
      return [];
    }
  };
  const images = () =>
    readdirSync(join(folder, "images"))
      .filter((name) => !name.startsWith("."))
      .sort();
  return { world, addProduct, night, images };
}

const quiet = { exitCode: 0, stdout: "", stderr: "", files: 1 };

// GitLab runs the same commands.
longTest(
  "the job for GitHub Actions exports the catalogue, with the settings of its environment",
  async () => {
    const { addProduct, night, images } = await machine();
    await addProduct("A-1");
    expect(await night(...jobs[1]!)).toEqual({ ...quiet, references: ["A-1"] });
    expect(images()).toEqual(["A-1_front.jpg", "catalogue.ndjson"]);
  },
);

longTest("the job for cron exports each change once, and loses none after a failure", async () => {
  const { world, addProduct, night, images } = await machine();
  const cron = jobs[0]!;
  await addProduct("A-1");
  expect(await night(...cron)).toEqual({ ...quiet, references: ["A-1"] });
  expect(images()).toEqual(["A-1_front.jpg", "catalogue.ndjson"]);

  await addProduct("B-2");
  const faults = `${world.mock.baseUrl}/_mock/faults`;
  await fetch(faults, {
    method: "POST",
    body: JSON.stringify({ match: { path: "/v1/exports" }, status: 403 }),
  });
  expect(await night(...cron)).toEqual({
    exitCode: 4,
    stdout: "",
    stderr: expect.stringMatching(/^error: .*403 insufficient_scope.*\nUse a key with this scope\.$/),
    files: 0,
    references: [],
  });
  await fetch(faults, { method: "DELETE" });

  await addProduct("C-3");
  expect(await night(...cron)).toEqual({ ...quiet, references: ["C-3", "B-2"] });
  expect(images()).toEqual(["A-1_front.jpg", "B-2_front.jpg", "C-3_front.jpg", "catalogue.ndjson"]);
});
