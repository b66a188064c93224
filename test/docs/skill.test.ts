import { readFileSync } from "node:fs";
import { basename, dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { isLong } from "../support/repetitions.ts";
import { splitWords } from "../support/split-words.ts";
import { createWorld } from "../support/world.ts";
import { blocksOf } from "./pages/blocks.ts";

const path = fileURLToPath(new URL("../../skills/catalogue/SKILL.md", import.meta.url));
const skill = readFileSync(path, "utf8");

/** The command lines of blocks and of sentences, in order. */
const lines = skill.split("\n").flatMap((line) => {
  if (line.startsWith("catalogue ")) return [line.replace(/ +#.*$/, "")];
  return [...line.matchAll(/`(catalogue [^`]+)`/g)].map(([, one]) => one!);
});

/** The words to run for a line that names a command without its file, or needs one that the user makes. */
const inFull: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ["import", "tryon", "beautify", "export sync"].map((name) => [`catalogue ${name}`, `${name} --help`]),
  ),
  "catalogue login": "login --with-key",
  "catalogue mcp": "mcp --help",
  "catalogue tasks review FILE": "tasks review decisions.csv",
};

test("every command line runs on a mock, and again, with the exit statuses that the skill has", async () => {
  const world = await createWorld();
  for (const { language, label, lines } of blocksOf(skill))
    if (language === "csv") world.write(label, `${lines.join("\n")}\n`);
  /** The last run that created products, and the last that queued images. */
  const last = { created: "", queued: "" };
  const exits = async () => {
    const found: [line: string, exit: number][] = [];
    for (const line of lines) {
      if (line.includes("tasks review"))
        world.write("decisions.csv", world.read("images/results.csv").replaceAll(/,,$/gm, ",approve,"));
      const run = line.includes("imports") ? last.created : last.queued;
      const words = splitWords((inFull[line] ?? line.slice("catalogue ".length)).replace("RUN", run));
      const ran = await world.cat(words, { stdin: "ak_mock", context: { program: "catalogue" } });
      found.push([line, ran.exit]);
      const [, id, what] = /^\{"run_id":"(\w+)".*"(created|queued)":[1-9][^\n]*\n$/.exec(ran.stdout) ?? [];
      if (id !== undefined) last[what as keyof typeof last] = id;
    }
    return found;
  };
  const plan = "catalogue import products.csv --plan --exit-code --json";
  expect(lines.length).toBeGreaterThan(25);
  expect(await exits()).toEqual(lines.map((line) => [line, line === plan ? 9 : 0]));
  if (isLong) expect(await exits()).toEqual(lines.map((line) => [line, 0]));
  // Nothing is created, attached or paid twice.
  expect(world.products().map(({ reference, images }) => [reference, images.length])).toEqual([
    ["DRESS-1", 1],
    ["SHIRT-2", 1],
  ]);
  expect(world.mock.state().organizations.main.tasks).toHaveLength(3);
});

test("a sentence names the exit status of the only line that has another one than 0", () => {
  const comments = skill.split("\n").filter((line) => /^catalogue .*exits with/.test(line));
  expect(comments.map((line) => line.replace(/^.*#/, "#"))).toEqual([
    "# exits with 9 if something would change; sends nothing",
  ]);
});

test("cat commands --skill prints it, by both names of the program, and as JSON", async () => {
  const world = await createWorld();
  for (const program of ["cat", "catalogue"] as const)
    expect(await world.cat("commands --skill", { tty: true, context: { program } })).toEqual({
      exit: 0,
      stdout: skill,
      stderr: "",
    });
  expect(JSON.parse((await world.cat("commands --skill --json")).stdout)).toEqual({ skill });
});

test("the front matter has the form of Agent Skills", () => {
  const [, front] = /^---\n(.*?)\n---\n/s.exec(skill) ?? [];
  const fields = Object.fromEntries(front!.split("\n").map((line) => line.split(/: (.*)/s).slice(0, 2)));
  expect(Object.keys(fields)).toEqual(["name", "description"]);
  expect(fields.name).toBe(basename(dirname(path)));
  expect(fields.name).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
  // In YAML, `: ` and ` #` would end the text.
  expect(fields.description).toMatch(/^[A-Z](?!.*(?:: | #))[^\n]{100,1023}$/);
});

test("the skill has fewer than 2,000 tokens, at 3.5 bytes for each", () => {
  expect(Buffer.byteLength(skill) / 3.5).toBeLessThan(2_000);
});
