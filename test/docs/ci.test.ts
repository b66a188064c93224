import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { expect, onTestFinished, test } from "vitest";
import { startMock } from "../../src/mock/index.ts";
import { longTest } from "../support/long-test.ts";
import { isLong } from "../support/repetitions.ts";
import { catalogueProgram, needsBuild } from "../support/spawn-cat.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { blocksOf } from "./pages/blocks.ts";

const page = (name: string) =>
  new Map(
    blocksOf(readFileSync(fileURLToPath(new URL(`../../docs/${name}`, import.meta.url)), "utf8")).map(
      ({ label, lines }) => [label, `${lines.join("\n")}\n`] as const,
    ),
  );
const files = page("ci.md");
const nightly = page("exports.md").get("nightly.sh")!;
const github = files.get(".github/workflows/catalogue.yml")!;
const gitlab = files.get(".gitlab-ci.yml")!;

/** The commands of a job: those of a system's file that run for an event. */
const jobs = {
  "GitHub, after a push": githubCommands("push"),
  "GitHub, at night": githubCommands("schedule"),
  "GitLab, after a push": gitlabCommands("import"),
  "GitLab, at night": gitlabCommands("export"),
};

function githubCommands(event: string): string[] {
  const steps = github.split(/^ {6}- /m).slice(1);
  return steps
    .filter((step) => !step.startsWith("if: github.event_name") || step.includes(`'${event}'`))
    .flatMap((step) => /^(?: {8})?run: (.*)$/m.exec(step)?.slice(1) ?? []);
}

function gitlabCommands(job: string): string[] {
  const [, body = ""] = gitlab.split(new RegExp(`^${job}:\n`, "m"));
  const own = body.split(/^\w/m)[0]!;
  return [...own.split("  script:\n")[1]!.matchAll(/^ {4}- (.*)$/gm)].map((match) => match[1]!);
}

test("both systems run the same commands after a push and at night", () => {
  expect(jobs).toEqual({
    "GitHub, after a push": ["npm ci --ignore-scripts", "sh import.sh"],
    "GitHub, at night": ["npm ci --ignore-scripts", "sh nightly.sh"],
    "GitLab, after a push": ["npm ci --ignore-scripts", "sh import.sh"],
    "GitLab, at night": ["npm ci --ignore-scripts", "sh nightly.sh"],
  });
});

test("the key is a secret, and the state is kept also after a failure", () => {
  expect(github).toMatch(/CAT_API_KEY: \$\{\{ secrets\.CAT_API_KEY \}\}\n/);
  expect(gitlab).not.toContain("CAT_API_KEY");
  expect(github).toMatch(/ {6}- if: always\(\)\n {8}uses: actions\/cache\/save@v4\n/);
  expect(gitlab).toMatch(/paths: \[state, images\]\n {4}when: always\n/);
  for (const text of [github, gitlab]) expect(text).toMatch(/CAT_HOME: .*\/state$/m);
});

/** The caches of a repository: a saved one never changes, and a restore takes the key, else the latest with a prefix. */
class Caches {
  readonly #saved: { key: string; folder: string }[] = [];
  readonly #root = temporaryFolder();

  restore(key: string, prefixes: readonly string[], into: string): void {
    const found =
      this.#saved.find((one) => one.key === key) ??
      this.#saved.findLast((one) => prefixes.some((prefix) => one.key.startsWith(prefix)));
    if (found !== undefined) cpSync(found.folder, into, { recursive: true });
  }

  save(key: string, from: string): void {
    if (this.#saved.some((one) => one.key === key)) return;
    const folder = join(this.#root, String(this.#saved.length));
    cpSync(from, folder, { recursive: true });
    this.#saved.push({ key, folder });
  }
}

/** Plays three runs of the job for GitHub, the second one with "Re-run jobs"; gives the number of photos per product. */
async function rerun(workflow: string): Promise<{ exits: (number | undefined)[]; photos: number[] }> {
  needsBuild();
  const mock = await startMock({ speed: 1000, rateLimit: false });
  onTestFinished(() => mock.stop());
  const caches = new Caches();
  const keys = [...workflow.matchAll(/^ {10}key: (.*)$/gm)].map((match) => match[1]!);
  const prefixes = [...workflow.matchAll(/^ {10}restore-keys: (.*)$/gm)].map((match) => match[1]!);
  expect(keys).toHaveLength(2);
  const exits: (number | undefined)[] = [];
  const attempt = async (run: number, number: number, references: readonly string[]) => {
    const named = (key: string) =>
      key
        .replace(/\$\{\{ github\.run_id \}\}/, `${run}`)
        .replace(/\$\{\{ github\.run_attempt \}\}/, `${number}`);
    // A clean machine.
    const work = temporaryFolder();
    caches.restore(named(keys[0]!), prefixes, join(work, "state"));
    const rows = references.map((one) => `${one},Dress,https://cdn.example.com/${one}.jpg`);
    writeFileSync(join(work, "products.csv"), ["reference,name,images", ...rows, ""].join("\n"));
    writeFileSync(join(work, "import.sh"), files.get("import.sh")!);
    mkdirSync(join(work, "node_modules/.bin"), { recursive: true });
    symlinkSync(catalogueProgram, join(work, "node_modules/.bin/catalogue"));
    const ran = await execa("sh", ["import.sh"], {
      ...{ cwd: work, extendEnv: false, reject: false },
      env: {
        ...{ PATH: `${dirname(process.execPath)}:/usr/bin:/bin`, HOME: work, CAT_HOME: join(work, "state") },
        ...{ CAT_BASE_URL: mock.baseUrl, CAT_API_KEY: mock.apiKey, MAX_CHANGES: "100%" },
      },
    });
    exits.push(ran.exitCode);
    caches.save(named(keys[1]!), join(work, "state"));
  };
  // The second attempt also has a row that the first one did not get to.
  await attempt(1, 1, ["A-1"]);
  await attempt(2, 1, ["A-1", "B-2"]);
  await attempt(2, 2, ["A-1", "B-2", "C-3"]);
  await attempt(3, 1, ["A-1", "B-2", "C-3", "D-4"]);
  const photos = mock.state().organizations.main.products.map(({ images }) => images.length);
  return { exits, photos };
}

// Twelve imports by real processes.
test.runIf(isLong)(
  "a job that is run again finds the ledger of the attempt before, and adds no photo twice",
  async () => {
    const photos = [1, 1, 1, 1];
    expect(await rerun(github)).toEqual({ exits: [0, 0, 0, 0], photos });
    // What no ledger knows cannot be compared, because the runner cannot fetch the photos: a conflict, and no second photo.
    // With a key that all attempts share, the ledger of the second one is not saved.
    const shared = await rerun(github.replace(/-\$\{\{ github\.run_attempt \}\}/g, ""));
    expect(shared).toEqual({ exits: [0, 0, 0, 8], photos });
    // Without the prefix, each job starts with an empty ledger.
    const empty = await rerun(github.replace(/^ {10}restore-keys: .*\n/m, ""));
    expect(empty).toEqual({ exits: [0, 8, 8, 8], photos });
  },
);

longTest(
  "the jobs import a file once, keep the ledger, report failed rows and export the changes",
  async () => {
    needsBuild();
    const mock = await startMock({ speed: 1000, rateLimit: false });
    onTestFinished(() => mock.stop());
    const folder = temporaryFolder();
    const bin = join(folder, "bin");
    mkdirSync(bin);
    // Installing is not what is tested, and would need a registry.
    writeFileSync(join(bin, "npm"), '#!/bin/sh\n[ "$*" = "ci --ignore-scripts" ]\n', { mode: 0o755 });
    const url = "https://cdn.example.com";
    const products = (...rows: string[]) => ["reference,name,images", ...rows, ""].join("\n");

    /** A job on a clean machine, which has the repository and the cache of the job before. */
    const run = async (job: keyof typeof jobs, csv: string, key: string = mock.apiKey, most = "100%") => {
      const work = join(folder, "work");
      for (const gone of ["failed.csv", "exports"])
        rmSync(join(work, gone), { recursive: true, force: true });
      mkdirSync(join(work, "node_modules/.bin"), { recursive: true });
      rmSync(join(work, "node_modules/.bin/catalogue"), { force: true });
      symlinkSync(catalogueProgram, join(work, "node_modules/.bin/catalogue"));
      writeFileSync(join(work, "products.csv"), csv);
      writeFileSync(join(work, "import.sh"), files.get("import.sh")!);
      writeFileSync(join(work, "nightly.sh"), nightly);
      const { exitCode, stdout, stderr } = await execa("sh", ["-c", jobs[job].join(" && ")], {
        cwd: work,
        reject: false,
        extendEnv: false,
        env: {
          ...{ PATH: `${bin}:${dirname(process.execPath)}:/usr/bin:/bin`, HOME: folder },
          ...{ CAT_BASE_URL: mock.baseUrl, CAT_API_KEY: key, CAT_HOME: join(work, "state") },
          MAX_CHANGES: most,
        },
      });
      return { exitCode, stdout, stderr, failed: (() => readText(join(work, "failed.csv")))() };
    };
    const photos = () =>
      mock.state().organizations.main.products.map(({ reference, images }) => [reference, images.length]);

    const good = `A-1,Dress,${url}/1.jpg`;
    expect(await run("GitHub, after a push", products(good), mock.apiKey, "")).toMatchObject({ exitCode: 3 });
    expect(photos()).toEqual([]);
    const first = await run("GitHub, after a push", products(good));
    expect(first).toMatchObject({ exitCode: 0, stdout: "", failed: null });
    expect(first.stderr).toMatch(/^Imported 1 row from products\.csv in .*: 1 created\.$/);
    // Only the ledger knows that the photo was sent.
    const changed = await run("GitLab, after a push", products(good, `B-2,Coat,${url}/fail-timeout.jpg`));
    expect(changed).toMatchObject({ exitCode: 8, failed: expect.stringContaining("B-2,Coat,") });
    expect(changed.stderr.split("\n").at(-1)).toBe("Some rows failed. Fix failed.csv, and import it.");
    expect(photos()).toEqual([["A-1", 1]]);
    const again = await run("GitHub, after a push", products(good));
    expect(again).toMatchObject({ exitCode: 0, failed: null });
    expect(photos()).toEqual([["A-1", 1]]);

    expect(await run("GitHub, after a push", products(good, "C-3,,"))).toMatchObject({ exitCode: 3 });
    const denied = await run(
      "GitHub, after a push",
      products(good, `D-4,Hat,${url}/4.jpg`),
      "ak_mock_revoked",
    );
    expect(denied).toMatchObject({ exitCode: 4 });
    expect(denied.stderr).not.toContain("ak_mock_revoked");

    expect(await run("GitLab, at night", products(good))).toMatchObject({
      exitCode: 0,
      stdout: "",
      stderr: "",
    });
    const faults = `${mock.baseUrl}/_mock/faults`;
    await fetch(faults, {
      method: "POST",
      body: JSON.stringify({ match: { path: "/v1/exports" }, status: 403 }),
    });
    expect(await run("GitHub, at night", products(good))).toMatchObject({ exitCode: 4 });
  },
);

function readText(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}
