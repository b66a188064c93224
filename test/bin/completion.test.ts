import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { openState } from "../../src/state/open-state.ts";
import { catalogueProgram, catProgram, needsBuild } from "../support/spawn-cat.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

beforeEach(needsBuild);

const has = (shell: string): boolean => {
  try {
    execFileSync("which", [shell], { stdio: "ignore" });
    return true;
  } catch {
    process.stderr.write(`skipped: ${shell} is not installed (apt-get install ${shell})\n`);
    return false;
  }
};

/** A folder with files, both programs on PATH, and settings with two profiles and kept references. */
async function setUp() {
  const cwd = temporaryFolder();
  const bin = temporaryFolder();
  symlinkSync(process.execPath, join(bin, "node"));
  symlinkSync(catProgram, join(bin, "cat"));
  symlinkSync(catalogueProgram, join(bin, "catalogue"));
  writeFileSync(join(cwd, "notes.txt"), "");
  const home = join(cwd, ".home");
  mkdirSync(home);
  const profiles = { default: { baseUrl: "https://h.example" }, studio: { baseUrl: "https://s.example" } };
  writeFileSync(join(home, "config.json"), JSON.stringify({ profiles }));
  const state = await openState(join(home, "state", "default.db"), { clock: systemClock() });
  const names = [
    ["DRESS-1", "Linen dress"],
    ["DRESS 2", ""],
    ["bad\u001bname", ""],
  ];
  state.marks.set("https://h.example", "completion:products", JSON.stringify(names));
  state.close();
  const env = { PATH: `${bin}:/usr/bin:/bin`, CAT_HOME: home, HOME: cwd, TERM: "xterm", LC_ALL: "C.UTF-8" };
  return { cwd, env };
}

/** The candidates of `catalogue __complete`. */
async function completed(...words: string[]): Promise<string[]> {
  const { cwd, env } = await setUp();
  const args = [catalogueProgram, "__complete", ...words];
  const ran = await execa(process.execPath, args, { cwd, env, extendEnv: false });
  expect(ran.stderr).toBe("");
  return ran.stdout.split("\n");
}

test.for([
  ["a command", ["cat", "prod"], ["products", ":files"]],
  [
    "no files after catalogue",
    ["catalogue", "comp"],
    ["completion\tprint a script that completes commands on Tab", ":"],
  ],
  ["a command of a group", ["cat", "models", ""], ["list\tlist models", ":"]],
  ["a file for the system's cat", ["cat", "notes.txt", ""], [":files"]],
  ["a file after a flag of the system's cat", ["cat", "-n", ""], [":files"]],
  ["a file of an import", ["cat", "import", ""], [":files"]],
  ["a flag", ["cat", "products", "list", "--fo"], ["--format\toutput format", ":"]],
  ["a choice", ["cat", "products", "list", "--format", "c"], ["csv", ":"]],
  ["a choice after =", ["cat", "products", "list", "--format=c"], ["--format=csv", ":"]],
  ["a choice after = as bash splits it", ["cat", "products", "list", "--format", "=", "c"], ["csv", ":"]],
  ["an argument with choices", ["catalogue", "completion", "z"], ["zsh", ":"]],
  ["a profile", ["cat", "--profile", "st"], ["studio", ":"]],
  ["a reference of the last list", ["cat", "products", "get", ""], ["DRESS-1\tLinen dress", "DRESS 2", ":"]],
  ["no reference of another profile", ["cat", "--profile", "studio", "products", "get", ""], [":"]],
  ["a command after global flags", ["cat", "--json", "model"], ["models", ":files"]],
  ["a file after --", ["cat", "serve", "--mock", "--", ""], [":files"]],
] as const)("completes %s", async ([, words, expected]) => {
  expect(await completed(...words)).toEqual(expected);
});

describe("in the real shell, for both names", () => {
  const lines = [
    ["cat prod", "products"],
    ["catalogue prod", "products"],
    ["cat not", "notes.txt"],
    ["cat -n not", "notes.txt"],
    ["cat products get DRESS-", "DRESS-1"],
    ["catalogue products list --format c", "csv"],
  ] as const;

  test.runIf(has("bash"))("bash", async () => {
    const { cwd, env } = await setUp();
    const one = (line: string) =>
      `COMP_WORDS=(${line}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _catalogue_complete \${COMP_WORDS[0]}; echo "\${COMPREPLY[*]}"`;
    const script = `source <(catalogue completion bash)\ncomplete -p cat catalogue\n${lines.map(([line]) => one(line)).join("\n")}\n`;
    const ran = await execa("bash", ["--norc", "-c", script], { cwd, env, extendEnv: false });
    expect(ran.stdout.split("\n")).toEqual([
      "complete -F _catalogue_complete cat",
      "complete -F _catalogue_complete catalogue",
      ...lines.map(([, word]) => word),
    ]);
  });

  test.runIf(has("fish"))("fish", async () => {
    const { cwd, env } = await setUp();
    const script = `catalogue completion fish | source\n${lines.map(([line]) => `complete -C '${line}'; echo =`).join("\n")}\n`;
    const ran = await execa("fish", ["--no-config", "-c", script], { cwd, env, extendEnv: false });
    const found = ran.stdout.split(/^=\n?/m).map((text) => text.split(/[\t\n]/, 1)[0]);
    expect(found.slice(0, lines.length)).toEqual(lines.map(([, word]) => word));
  });

  test.runIf(has("zsh"))(
    "zsh",
    async () => {
      const { cwd, env } = await setUp();
      // A shell in a pseudo-terminal of zsh's own: Tab completes the line, and ^X prints it.
      const inner = [
        "autoload -Uz compinit && compinit -u -D",
        "source <(catalogue completion zsh)",
        "show() { print -r -- \"<$BUFFER>\" >> $OUT; BUFFER=; zle redisplay }; zle -N show; bindkey '^X' show",
        "PS1='READY> '; echo loaded >> $OUT",
      ].join("; ");
      writeFileSync(join(cwd, "inner.zsh"), `${inner}\n`);
      const script = `
zmodload zsh/zpty; export OUT=$PWD/out; : > $OUT
zpty shell zsh -f -i
zpty -w shell 'source ./inner.zsh'
wait_for() { local n=0; while (( $(wc -l < $OUT) < $1 )) && (( n++ < 300 )); do zpty -r -t shell REPLY; sleep 0.05; done }
wait_for 1
integer count=1
for line in "$@"; do zpty -n -w shell "$line"$'\\t'; sleep 0.2; zpty -n -w shell $'\\x18'; (( count++ )); wait_for $count; done
zpty -d shell; command /bin/cat $OUT`;
      const args = ["-f", "-c", script, "zsh", ...lines.map(([line]) => line)];
      const ran = await execa("zsh", args, { cwd, env, extendEnv: false, timeout: 60_000 });
      const typed = lines.map(([line, word]) => `<${line.slice(0, line.lastIndexOf(" ") + 1)}${word}>`);
      expect(ran.stdout.split("\n").map((line) => line.trimEnd().replace(/ >$/, ">"))).toEqual([
        "loaded",
        ...typed,
      ]);
    },
    70_000,
  );
});
