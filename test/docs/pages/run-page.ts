import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import * as XLSX from "@e965/xlsx";
import { execa } from "execa";
import sharp from "sharp";
import { commandNames } from "../../../src/cli/command-names.ts";
import { catProgram, needsBuild } from "../../support/spawn-cat.ts";
import { splitWords } from "../../support/split-words.ts";
import { createWorld, type Running, type TestWorld } from "../../support/world.ts";
import { type Block, blocksOf, type Example, examplesOf } from "./blocks.ts";

/** An output that a page shows, and the output of the command in this run. */
export interface Compared {
  readonly example: Example;
  /** The place in the page and the command, for the report of a difference. */
  readonly at: string;
  readonly actual: readonly string[];
}

const names: readonly string[] = commandNames;
const root = fileURLToPath(new URL("../../../", import.meta.url));
/** The address of the mock server in the pages. */
const shownUrl = "http://127.0.0.1:4010";
/** Only a shell understands these; other commands run in this process. */
const needsShell = /[|<>;&$`*]/;

export interface PageOptions {
  /** Whether CAT_BASE_URL and CAT_API_KEY are set from the start. */
  settings: boolean;
  /** Whether the page is being updated: a failed command is then ignored. */
  update?: boolean;
}

/**
 * Runs the examples of a page in order, in one temporary folder against one mock. Writes each block with a file
 * name and runs each `sh` and `console` block. Throws if a command fails and the page shows no output, and if a
 * block is neither run, nor a file, nor marked `no-run`.
 */
export async function runPage(
  name: string,
  text: string,
  { settings, update = false }: PageOptions,
): Promise<Compared[]> {
  const page = await openPage(settings);
  const compared: Compared[] = [];
  try {
    for (const block of blocksOf(text)) {
      const at = `${name}:${block.start + 1}`;
      if (block.label === "no-run") continue;
      if (block.language === "sh" || block.language === "console") {
        for (const example of examplesOf(block)) {
          const where = `${at}: ${example.command}`;
          const { exit, output } = await page.run(example);
          // The comparison finds a failure that a shown output lacks.
          const isExpected = exit === 0 || (example.output ?? []).length > 0;
          if (!isExpected && !update) throw new Error(`${where}\nexit ${exit}\n${output}`);
          if (example.output !== null) compared.push({ example, at: where, actual: linesOf(output) });
        }
      } else if (block.language === "sheet") page.write(block.label, workbookOf(block.lines));
      else if (block.label !== "") page.write(block.label, `${block.lines.join("\n")}\n`);
      else if (!isRunByPackageTest(name, block)) throw new Error(`${at}: not run; mark it no-run`);
    }
  } finally {
    await page.close();
  }
  return compared;
}

/** test/package runs these in an installed package. */
export const isRunByPackageTest = (name: string, { language }: Block): boolean =>
  name === "README.md" && language === "js";

/** IDs, times and durations differ from run to run. */
export const normalized = (lines: readonly string[]): string[] =>
  lines.map((line) =>
    line
      .replace(/\b[0-9A-HJKMNP-TV-Z]{26}\b/g, "ID")
      .replace(/\brun_[0-9a-z]+/g, "RUN_ID")
      .replace(/\breq_[0-9A-Za-z]+/g, "REQUEST_ID")
      .replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z/g, "TIME")
      .replace(/\bin [\d.]+ (?:s|min \d+ s|h)\b/g, "in DURATION")
      .replace(/"duration_ms":\d+/, '"duration_ms":DURATION')
      // It has digests of image IDs, which photos get in the order of their uploads.
      .replace(/\bcat2[\w-]{60,}/g, "AS_EXPORTED")
      .replace(/[?&]signature=[\w-]+|[?&]expires=\d+/g, "SIGNED"),
  );

/** A page with the outputs of this run wherever they differ. */
export function updated(text: string, compared: readonly Compared[]): string {
  const lines = text.split("\n");
  for (const { example, actual } of [...compared].reverse()) {
    const [from, to] = example.outputLines;
    const isSame = normalized(example.output!).join("\n") === normalized(actual).join("\n");
    if (!isSame) lines.splice(from, to - from, ...actual);
  }
  return lines.join("\n");
}

const linesOf = (output: string): string[] =>
  output === ""
    ? []
    : output
        .replace(/\n$/, "")
        .split("\n")
        .map((line) => line.trimEnd());

async function openPage(settings: boolean) {
  needsBuild();
  const world = await createWorld({
    env: { CAT_BASE_URL: undefined, CAT_API_KEY: undefined, NO_COLOR: "1" },
    // Line breaks must not depend on the length of a port or a path.
    columns: 200,
  });
  // Not new, also for the programs that a shell runs.
  mkdirSync(join(world.folder, ".home", "state"), { recursive: true });
  world.withFixtures();
  for (const photo of ["photos/BAG-2_front", "photos/BAG-2_back", "belts/BELT-3_front", "belts/BELT-3_back"])
    await drawPhoto(world, `${photo}.jpg`);
  const given = { CAT_BASE_URL: world.mock.baseUrl, CAT_API_KEY: world.mock.apiKey };
  const env: Record<string, string> = settings ? given : {};
  const bin = join(world.folder, "node_modules/.bin");
  mkdirSync(bin, { recursive: true });
  mkdirSync(join(world.folder, "node_modules/@catalogue-imaging"));
  symlinkSync(catProgram, join(bin, "cat"));
  symlinkSync(root, join(world.folder, "node_modules/@catalogue-imaging/catalogue"));
  for (const runner of ["vitest", "jest"])
    for (const name of [runner, `.bin/${runner}`])
      symlinkSync(join(root, "node_modules", name), join(world.folder, "node_modules", name));
  const served: { running: Running; url: string }[] = [];
  let last = 0;

  /** The address of the mock server of this run, for the one that the page shows, and back. */
  const real = (text: string) => text.replaceAll(shownUrl, served.at(-1)?.url ?? shownUrl);
  const shown = (text: string) => served.reduce((all, { url }) => all.replaceAll(url, shownUrl), text);

  async function run(example: Example): Promise<{ exit: number; output: string }> {
    const command = real(example.command).replace(/^npm ci && npx /, "");
    if (command === "echo $?") return { exit: 0, output: `${last}\n` };
    const words = splitWords(command);
    if (words[0] === "export") {
      for (const word of words.slice(1)) {
        const [variable, value] = word.split(/=(.*)/s) as [string, string];
        // The reader's own service and key are the mock's here.
        const isOwn = value.startsWith("https://") || value === "ak_...";
        env[variable] = isOwn ? given[variable as keyof typeof given] : value;
      }
      return { exit: 0, output: "" };
    }
    const isOurs = words[0] === "cat" && names.includes(words[1]!) && !words.includes("--");
    if (isOurs && words[1] === "serve") return serve(words.slice(1));
    const ran =
      isOurs && !needsShell.test(command)
        ? await inThisProcess(words.slice(1), example.isInterrupted)
        : await inShell(command);
    last = ran.exit;
    return { exit: ran.exit, output: shown(ran.output) };
  }

  async function inThisProcess(argv: string[], isInterrupted: boolean) {
    // As on a terminal; without the bar, which the summary replaces there.
    const running = world.cat([...argv, "--no-progress"], { env, tty: { stdout: true, stderr: true } });
    if (isInterrupted) await interruptWhenSent(world, running);
    const { exit, stdout, stderr } = await running;
    // The command to resume is the typed one.
    return { exit, output: (stdout + stderr).replaceAll(" --no-progress", "") };
  }

  async function inShell(command: string) {
    const { exitCode, all } = await execa("sh", ["-c", command], {
      reject: false,
      all: true,
      cwd: world.folder,
      extendEnv: false,
      env: {
        ...env,
        PATH: `${bin}:${process.env.PATH}`,
        CAT_HOME: join(world.folder, ".home"),
        no_proxy: "*",
      },
      stripFinalNewline: false,
      input: "",
    });
    return { exit: exitCode ?? 1, output: all };
  }

  async function serve(argv: string[]) {
    const running = world.cat([...argv, "--port", "0"]);
    while (!/http:\S+/.test(running.stdout + running.stderr)) {
      await Promise.race([new Promise((resolve) => setImmediate(resolve)), running.then(failed)]);
    }
    const output = running.stdout + running.stderr;
    served.push({ running, url: /http:\/\/[\d.:]+/.exec(output)![0] });
    return { exit: 0, output: shown(output) };
  }

  return {
    run,
    write: (path: string, content: string | Buffer) => {
      mkdirSync(dirname(join(world.folder, path)), { recursive: true });
      writeFileSync(join(world.folder, path), typeof content === "string" ? real(content) : content);
    },
    close: async () => {
      for (const { running } of served) {
        running.interrupt();
        await running;
      }
    },
  };
}

/** A workbook with the rows of a Markdown table. */
export function workbookOf(rows: readonly string[]): Buffer {
  const cells = rows.map((row) =>
    row
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  const book = XLSX.utils.book_new();
  XLSX.utils.book_append_sheet(book, XLSX.utils.aoa_to_sheet(cells), "Products");
  return XLSX.write(book, { type: "buffer", bookType: "xlsx" });
}

/** A photo of a single color, which its name decides. */
async function drawPhoto(world: TestWorld, path: string): Promise<void> {
  const sum = [...path].reduce((sum, character) => sum + character.charCodeAt(0), 0);
  const background = { r: sum % 256, g: path.length * 4, b: 80 };
  world.write(
    path,
    await sharp({ create: { width: 8, height: 8, channels: 3, background } })
      .jpeg()
      .toBuffer(),
  );
}

function failed({ exit, stderr }: { exit: number; stderr: string }): never {
  throw new Error(`serve ended with ${exit}: ${stderr}`);
}

/** Ctrl-C once the service has accepted the first batch. */
async function interruptWhenSent(world: TestWorld, running: Running): Promise<void> {
  let isOver = false;
  void running.finally(() => {
    isOver = true;
  });
  const before = imports(world);
  while (!isOver && imports(world) === before) await new Promise((resolve) => setImmediate(resolve));
  running.interrupt();
}

const imports = (world: TestWorld): number =>
  world.requests().filter(({ method, path }) => method === "POST" && /^\/v1\/imports(?:$|\?)/.test(path))
    .length;
