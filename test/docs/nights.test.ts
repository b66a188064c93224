import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { expect, onTestFinished } from "vitest";
import { startMock } from "../../src/mock/index.ts";
import { longTest } from "../support/long-test.ts";
import { parsePrometheus } from "../support/parse-prometheus.ts";
import { startReceiver } from "../support/receiver.ts";
import { catalogueProgram, needsBuild } from "../support/spawn-cat.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { blocksOf } from "./pages/blocks.ts";

const page = readFileSync(fileURLToPath(new URL("../../docs/nights.md", import.meta.url)), "utf8");
const files = new Map(blocksOf(page).map(({ label, lines }) => [label, lines]));
const file = (name: string): readonly string[] => {
  const lines = files.get(name);
  if (lines === undefined) throw new Error(`docs/nights.md has no ${name}`);
  return lines;
};
const setting = (name: string, key: string): string =>
  file(name)
    .find((line) => line.startsWith(`${key}=`))!
    .slice(key.length + 1);

/** The variables that systemd reads of a file, whose form has neither `export` nor quotes here. */
const variables = (lines: readonly string[]) => Object.fromEntries(lines.map((line) => line.split(/=(.*)/s)));

/** The commands of a night, as each system runs them. */
const systems: Readonly<Record<string, string>> = {
  cron: file("night.cron").flatMap((line) => /^\d+ \d+ \* \* \* (.*)$/.exec(line)?.slice(1) ?? [])[0]!,
  systemd: setting("catalogue-night.service", "ExecStart"),
  "GitHub Actions": commandsOf(file(".github/workflows/night.yml"), /^ +- run: (.*)$/),
  GitLab: commandsOf(file(".gitlab-ci.yml"), /^ {4}- (npm .*|sh .*)$/),
};

function commandsOf(lines: readonly string[], form: RegExp): string {
  return lines.flatMap((line) => form.exec(line)?.slice(1) ?? []).join(" && ");
}

longTest("each system of the page runs the script", () => {
  expect(systems).toEqual({
    cron: "cd /srv/catalogue && set -a && . ./night.env && sh night.sh",
    systemd: "/bin/sh night.sh",
    "GitHub Actions": "npm ci --ignore-scripts && sh night.sh",
    GitLab: "npm ci --ignore-scripts && sh night.sh",
  });
  expect(setting("catalogue-night.service", "WorkingDirectory")).toBe("/srv/catalogue");
  expect(setting("catalogue-night.service", "EnvironmentFile")).toBe("/srv/catalogue/night.env");
});

/** A server with the files of the page, a service, and a check-in service. */
async function server() {
  needsBuild();
  const mock = await startMock({ speed: 1000, rateLimit: false });
  onTestFinished(() => mock.stop());
  const home = temporaryFolder();
  const receiver = await startReceiver();
  const folder = join(home, "srv");
  const metrics = join(folder, "collector/catalogue.prom");
  mkdirSync(dirname(metrics), { recursive: true });
  const real = (line: string) =>
    line
      .replace("https://imaging.example.com", mock.baseUrl)
      .replace("ak_...", mock.apiKey)
      .replace("https://hc-ping.com/PING_KEY", `${receiver.origin}/PING_KEY`)
      .replace("/var/lib/node_exporter/catalogue.prom", metrics)
      .replaceAll("/srv/catalogue", folder);
  const write = (name: string, lines: readonly string[]) =>
    writeFileSync(join(folder, name), `${lines.join("\n")}\n`);
  write("night.sh", file("night.sh"));
  write("night.env", file("night.env").map(real));
  mkdirSync(join(folder, "node_modules/.bin"), { recursive: true });
  symlinkSync(catalogueProgram, join(folder, "node_modules/.bin/catalogue"));
  const bin = join(home, "bin");
  mkdirSync(bin);
  // Installing is not what is tested, and would need a registry.
  writeFileSync(join(bin, "npm"), '#!/bin/sh\n[ "$*" = "ci --ignore-scripts" ]\n', { mode: 0o755 });

  let nights = 0;
  const night = async (system: string, sheet: readonly string[], most = "100%") => {
    // The nights of a test can be within one second, in which they would write the same file.
    const now = `20260105T0215${String(nights++).padStart(2, "0")}Z`;
    writeFileSync(join(bin, "date"), `#!/bin/sh\n[ "$*" = "-u +%Y%m%dT%H%M%SZ" ] && echo ${now}\n`, {
      mode: 0o755,
    });
    write("products.csv", ["reference,name,image_front", ...sheet]);
    receiver.notices.length = 0;
    const given = variables(file("night.env").map(real));
    const { exitCode, stdout, stderr } = await execa("sh", ["-c", real(systems[system]!)], {
      cwd: folder,
      ...{ reject: false, extendEnv: false },
      env: {
        ...{
          PATH: `${bin}:${dirname(process.execPath)}:/usr/bin:/bin`,
          HOME: home,
          MAX_CHANGES: most,
        },
        ...(system !== "cron" && given),
      },
    });
    const text = readFileSync(metrics, "utf8");
    return {
      exitCode,
      stdout,
      stderr,
      told: receiver.notices.map(({ path }) => path.replace("/PING_KEY/catalogue-", "").replace(/\?.*/, "")),
      exits: Object.fromEntries(
        parsePrometheus(text)
          .filter(({ name }) => name === "catalogue_last_run_exit_status")
          .map(({ labels, value }) => [labels.command, value]),
      ),
      runs: parsePrometheus(text)
        .filter(({ name }) => name === "catalogue_runs_total")
        .reduce((sum, { value }) => sum + value, 0),
      exports: readdirSync(join(folder, "exports")).length,
      images: readdirSync(join(folder, "images")).filter((name) => name.endsWith(".jpg")).length,
    };
  };
  return { folder, night };
}

const row = (reference: string, photo = "1.jpg") => `${reference},Dress,https://cdn.example.com/${photo}`;
const allWell = ["import/start", "import", "export/start", "export", "mirror/start", "mirror"];

longTest.each(Object.keys(systems))(
  "two nights with %s, the second on what the first one left",
  async (system) => {
    const { night } = await server();
    const first = await night(system, [row("A-1")]);
    expect(first).toMatchObject({ exitCode: 0, stdout: "", told: allWell, runs: 3, exports: 1, images: 1 });
    // The second night finds what the first one left.
    const second = await night(system, [row("A-1"), row("B-2", "2.jpg")]);
    expect(second).toMatchObject({ exitCode: 0, told: allWell, runs: 6, exports: 2, images: 2 });
    expect(second.exits).toEqual({ import: 0, export: 0, "export sync": 0 });
  },
);

longTest("nights that fail are told, and the next ones continue", async () => {
  const { folder, night } = await server();
  const system = "cron";
  await night(system, [row("A-1"), row("B-2", "2.jpg")]);
  const unchanged = await night(system, [row("A-1"), row("B-2", "2.jpg")], "1");
  expect(unchanged).toMatchObject({ exitCode: 0, told: allWell, images: 2 });

  const importFails = allWell.map((step) => (step === "import" ? "import/fail" : step));
  const failed = await night(system, [row("A-1"), row("C-3", "fail-timeout.jpg")]);
  expect(failed).toMatchObject({ exitCode: 8, told: importFails, exits: { import: 8, "export sync": 0 } });
  expect(readFileSync(join(folder, "failed.csv"), "utf8")).toContain("C-3,Dress,");
  const invalid = await night(system, [row("A-1"), "X-9,,"]);
  expect(invalid).toMatchObject({ exitCode: 3, told: importFails, exits: { import: 3, "export sync": 0 } });
  const tooMany = await night(system, [row("D-4"), row("E-5"), row("F-6")], "1");
  expect(tooMany).toMatchObject({ exitCode: 3, told: importFails });
});
