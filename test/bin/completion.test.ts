import { execFileSync } from "node:child_process";
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { beforeEach, describe, expect } from "vitest";
import { completionHome } from "../cli/completion/completion-home.ts";
import { longTest } from "../support/long-test.ts";
import { catalogueProgram, catProgram, needsBuild } from "../support/spawn-cat.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { until } from "../support/until.ts";

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
  writeFileSync(join(cwd, "a:b c.csv"), "");
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
  /** Words with characters that shells read: what is typed, and the line after Tab. */
  const quoted = [
    ["cat products get DRESS\\ ", "cat products get DRESS\\ 2"],
    ["cat products get red:", "cat products get red:it\\'s\\ 5\\\"\\$x"],
    ['cat products get "red:i', 'cat products get "red:it\'s 5\\"\\$x"'],
    ["cat products get 'red", "cat products get 'red:it'\\''s 5\"$x'"],
    ["cat --profile=st", "cat --profile=studio"],
    ["cat export --out=a:b\\ ", "cat export --out=a:b\\ c.csv"],
    ["cat login --with-key < not", "cat login --with-key < notes.txt"],
  ] as const;
  /** The lines after Tab. */
  const completed = [
    ...lines.map(([line, word]) => `${line.slice(0, line.lastIndexOf(" ") + 1)}${word}`),
    ...quoted.map(([, line]) => line),
  ];
  const typed = [...lines, ...quoted].map(([line]) => line);

  longTest.runIf(has("bash") && has("script"))(
    "bash",
    async () => {
      const { cwd, env } = await setUp();
      // Tab completes the line, and Ctrl-X appends it to a file.
      const rc = [
        "source <(catalogue completion bash)",
        "bind 'set enable-bracketed-paste off'",
        `show() { printf '%s\\n' "$READLINE_LINE" >> shown; READLINE_LINE=; READLINE_POINT=0; }`,
        `bind -x '"\\C-x": show'`,
        "PS1='READY> '",
      ];
      writeFileSync(join(cwd, "rc"), `${rc.join("\n")}\n`);
      writeFileSync(join(cwd, "shown"), "");
      const command = "stty cols 120; exec bash --noprofile --rcfile rc -i";
      const shell = execa("script", ["-qec", command, "/dev/null"], {
        ...{ cwd, env: { ...env, SHELL: "/bin/bash" }, extendEnv: false, stdin: "pipe" },
        ...{ reject: false, timeout: 60_000 },
      });
      let screen = "";
      shell.stdout.on("data", (bytes: Buffer) => {
        screen += bytes;
      });
      const shown = () => readFileSync(join(cwd, "shown"), "utf8").split("\n").slice(0, -1);
      await until(() => screen.includes("READY> "), { pauseMs: 5, seen: () => screen });
      for (const [index, line] of typed.entries()) {
        shell.stdin.write(`${line}\t\x18`);
        await until(() => shown().length > index, { pauseMs: 5, seen: () => screen });
      }
      shell.stdin.write("exit\n");
      await shell;
      expect(shown().map((line) => line.trimEnd())).toEqual(completed);
    },
    70_000,
  );

  longTest.runIf(has("fish"))("fish", async () => {
    const { cwd, env } = await setUp();
    // fish itself adds the quotes to the words that it lists.
    const words = [
      "DRESS 2",
      ...Array(3).fill("red:it's 5\"$x"),
      "--profile=studio",
      "--out=a:b c.csv",
      "notes.txt",
    ];
    const script = "catalogue completion fish | source; for line in $argv; complete -C $line; echo =; end";
    const ran = await execa("fish", ["--no-config", "-c", script, ...typed], { cwd, env, extendEnv: false });
    const found = ran.stdout.split(/^=\n?/m).map((text) => text.split(/[\t\n]/, 1)[0]);
    expect(found.slice(0, typed.length)).toEqual([...lines.map(([, word]) => word), ...words]);
  });

  longTest.runIf(has("zsh"))(
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
      const args = ["-f", "-c", script, "zsh", ...typed];
      const ran = await execa("zsh", args, { cwd, env, extendEnv: false, timeout: 60_000 });
      expect(ran.stdout.split("\n").map((line) => line.trimEnd().replace(/ >$/, ">"))).toEqual(
        completed.map((line) => `<${line}>`),
      );
    },
    70_000,
  );
});
