import { execFileSync } from "node:child_process";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { beforeEach, describe, expect, test } from "vitest";
import { completionHome } from "../cli/completion/completion-home.ts";
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
  await completionHome(home);
  const env = { PATH: `${bin}:/usr/bin:/bin`, CAT_HOME: home, HOME: cwd, TERM: "xterm", LC_ALL: "C.UTF-8" };
  return { cwd, env };
}

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
        "integer shown=0",
        'show() { print -r -- "<$BUFFER>" >> $OUT; BUFFER=; print "line $(( ++shown )) is shown"; zle redisplay }',
        "zle -N show; bindkey '^X' show; PS1='READY> '",
      ].join("; ");
      writeFileSync(join(cwd, "inner.zsh"), `${inner}\n`);
      // zpty -r waits until the shell has printed the text: its prompt, then the number of each line.
      const script = `
zmodload zsh/zpty; export OUT=$PWD/out
zpty shell zsh -f -i
zpty -w shell 'source ./inner.zsh'
zpty -r -m shell REPLY '*READY> *'
integer count=0
for line in "$@"; do zpty -n -w shell "$line"$'\\t\\x18'; (( ++count )); zpty -r -m shell REPLY "*line $count is shown*"; done
zpty -d shell; command /bin/cat $OUT`;
      const args = ["-f", "-c", script, "zsh", ...lines.map(([line]) => line)];
      const ran = await execa("zsh", args, { cwd, env, extendEnv: false, timeout: 60_000 });
      const typed = lines.map(([line, word]) => `<${line.slice(0, line.lastIndexOf(" ") + 1)}${word}>`);
      expect(ran.stdout.split("\n").map((line) => line.trimEnd().replace(/ >$/, ">"))).toEqual(typed);
    },
    70_000,
  );
});
