import { readFileSync } from "node:fs";
import { parseYaml } from "@redocly/openapi-core";
import { expect, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };

const text = readFileSync(new URL("../../.github/workflows/release.yml", import.meta.url), "utf8");

interface Job {
  readonly needs?: string;
  readonly permissions: Readonly<Record<string, string>>;
  readonly steps: readonly { readonly uses?: string; readonly run?: string }[];
}

const workflow = parseYaml(text) as {
  readonly on: unknown;
  readonly permissions: unknown;
  readonly jobs: Readonly<Record<string, Job>>;
};
const jobs = Object.entries(workflow.jobs);
const commandsOf = ({ steps }: Job) => steps.flatMap(({ run }) => run ?? []);

test("the tag of a version is published by what npm run release has made, after the tests", () => {
  expect(workflow.on).toEqual({ push: { tags: ["v[0-9]*"] } });
  expect(jobs.map(([name, { needs }]) => [name, needs])).toEqual([
    ["files", undefined],
    ["package", "files"],
    ["release", "package"],
  ]);
  const { files } = workflow.jobs;
  const commands = commandsOf(files!);
  expect(commands.slice(-2)).toEqual(["npm test", "npm run release"]);
  for (const command of commands.slice(1))
    expect(Object.keys(manifest.scripts)).toContain(command.split(" ").at(-1));
  expect(commandsOf(workflow.jobs.package!)).toEqual([
    `npm publish ./${manifest.name.replace("@", "").replace("/", "-")}-*.tgz`,
  ]);
});

test("each job of it may do what it needs alone: the one with the identity runs no package", () => {
  expect(workflow.permissions).toEqual({});
  expect(jobs.map(([name, { permissions }]) => [name, permissions])).toEqual([
    ["files", { contents: "read" }],
    ["package", { "id-token": "write" }],
    ["release", { contents: "write" }],
  ]);
  for (const [name, job] of jobs) {
    const commands = commandsOf(job);
    // Neither an input nor the name of a tag is part of a command, where it could run another.
    for (const command of commands) expect(command).not.toContain("${{");
    if (name !== "files") expect(commands).toHaveLength(1);
    for (const { uses } of job.steps) if (uses !== undefined) expect(uses).toMatch(/^actions\/[a-z-]+@v4$/);
  }
  expect(text).not.toMatch(/secrets\.|TOKEN: (?!\$\{\{ github\.token \}\}$)/m);
  expect(workflow.jobs.files!.steps[0]).toMatchObject({ with: { "persist-credentials": false } });
  expect(commandsOf(workflow.jobs.files!)[0]).toBe("npm ci --ignore-scripts");
});
