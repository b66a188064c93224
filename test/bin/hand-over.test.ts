import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, copyFileSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { beforeEach, describe, expect } from "vitest";
import { longTest } from "../support/long-test.ts";
import { catProgram, needsBuild } from "../support/spawn-cat.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** A folder for PATH with the tools that a script needs, and with or without this program as cat. */
function toolsWith(cat: "no cat" | "own cat" = "no cat"): string {
  const folder = temporaryFolder();
  symlinkSync(process.execPath, join(folder, "node"));
  for (const tool of ["bash", "sh", "env", "head", "sleep", "dirname", "sed", "printf"]) {
    symlinkSync(`/usr/bin/${tool}`, join(folder, tool));
  }
  if (cat === "own cat") symlinkSync(catProgram, join(folder, "cat"));
  return folder;
}

interface Shell {
  path?: string[];
  env?: Record<string, string>;
  cwd?: string;
  input?: string;
}

/** Runs a script in bash, with this program as the first cat on PATH. */
async function shell(script: string, { path, env, cwd, input }: Shell = {}) {
  const folders = path ?? [toolsWith("own cat"), "/usr/bin", "/bin"];
  const ran = await execa("/bin/bash", ["--norc", "-c", script], {
    reject: false,
    stripFinalNewline: false,
    extendEnv: false,
    env: { PATH: folders.join(":"), LC_ALL: "C", ...env },
    input: input ?? "",
    ...(cwd === undefined ? {} : { cwd }),
  });
  return { exit: ran.exitCode, stdout: ran.stdout, stderr: ran.stderr };
}

function writeScript(path: string, text: string): void {
  writeFileSync(path, text);
  chmodSync(path, 0o755);
}

beforeEach(needsBuild);

describe("the system's cat works unchanged", () => {
  const uses = [
    ["a file", "cat notes.txt", "one\ntwo\n"],
    ["a pipe", "echo hi | cat", "hi\n"],
    ["a flag", "cat -n notes.txt", "     1\tone\n     2\ttwo\n"],
    ["a here-document", "cat <<EOF\ntext $((1 + 1))\nEOF", "text 2\n"],
    ["a file as stdin", "cat < notes.txt", "one\ntwo\n"],
    ["stdin as -", "echo hi | cat notes.txt - notes.txt", "one\ntwo\nhi\none\ntwo\n"],
    ["several in one pipeline", "cat notes.txt | cat | cat -", "one\ntwo\n"],
    ["a file named like a command", "echo file > import; cat ./import; cat -- import", "file\nfile\n"],
    ["a flag before the name of a command", "echo file > products; cat -n products", "     1\tfile\n"],
    ["redirected output", "cat notes.txt > copy.txt; cat copy.txt", "one\ntwo\n"],
    ["process substitution", "cat <(echo a) <(echo b)", "a\nb\n"],
    ["a low descriptor", "cat /dev/fd/3 3< notes.txt", "one\ntwo\n"],
    ["a low descriptor in /proc", "cat /proc/self/fd/7 7< notes.txt", "one\ntwo\n"],
    ["a low descriptor that is a pipe", "cat /dev/fd/4 4< <(echo pipe)", "pipe\n"],
    ["a name with spaces and quotes", `echo x > "a 'b' \\"c\\""; cat "a 'b' \\"c\\""`, "x\n"],
    ["a name that is not UTF-8", "echo latin > $'caf\\xe9'; cat notes.txt $'caf\\xe9'", "one\ntwo\nlatin\n"],
    ["such a name with a line break", "echo odd > $'caf\\xe9\\n'; cat $'caf\\xe9\\n'", "odd\n"],
    ["the exit status of a pipe's end", "cat notes.txt | head -n 1", "one\n"],
  ] as const;
  longTest.for(uses)("with %s", async ([, script, stdout]) => {
    const cwd = temporaryFolder();
    writeFileSync(join(cwd, "notes.txt"), "one\ntwo\n");
    expect(await shell(script, { cwd })).toEqual({ exit: 0, stdout, stderr: "" });
  });

  longTest("binary data is unchanged", async () => {
    const cwd = temporaryFolder();
    const bytes = Uint8Array.from({ length: 300_000 }, (_, index) => (index * 7) % 256);
    writeFileSync(join(cwd, "photo.bin"), bytes);
    const path = [toolsWith("own cat"), "/usr/bin", "/bin"].join(":");
    const ran = await execa("/bin/bash", ["--norc", "-c", "cat photo.bin | cat - photo.bin"], {
      cwd,
      env: { PATH: path },
      encoding: "buffer",
    });
    expect(Buffer.from(ran.stdout).equals(Buffer.concat([bytes, bytes]))).toBe(true);
  });

  longTest("a missing file gives the error and the status of the system", async () => {
    expect(await shell("cat no-such-file")).toEqual({
      exit: 1,
      stdout: "",
      stderr: "cat: no-such-file: No such file or directory\n",
    });
  });

  longTest("an empty argument and an unknown flag are passed on", async () => {
    expect((await shell("cat ''")).stderr).toBe("cat: '': No such file or directory\n");
    expect((await shell("cat --no-such-flag")).stderr).toContain("unrecognized option '--no-such-flag'");
  });

  longTest("a global flag without a command of this program is passed on", async () => {
    expect((await shell("cat --json notes")).stderr).toContain("unrecognized option '--json'");
    expect((await shell("cat --profile")).stderr).toContain("unrecognized option '--profile'");
  });

  longTest(
    "descriptors that the shell did not open stay closed, even if Node uses their numbers",
    async () => {
      const numbers = [3, 4, 5, 6, 7, 8, 9];
      expect(await shell(`for n in ${numbers.join(" ")}; do cat /dev/fd/$n; done`)).toEqual({
        exit: 1,
        stdout: "",
        stderr: numbers.map((n) => `cat: /dev/fd/${n}: No such file or directory\n`).join(""),
      });
    },
  );

  longTest("it ends by SIGPIPE, as a shell expects, when the reader closes the pipe", async () => {
    const ran = await shell("set -o pipefail; cat /dev/zero | head -c 10 > /dev/null; echo $PIPESTATUS");
    expect(ran).toEqual({ exit: 0, stdout: "141\n", stderr: "" });
  });

  longTest.runIf(process.platform === "linux")("the environment is unchanged", async () => {
    // The `:` matters: the shell replaces itself with its last command, with another SHLVL.
    const script = "env; echo; cat /proc/self/environ; :";
    const { stdout } = await shell(script, { env: { LANG: "C", EMPTY: "", ODD: "a\tb=c" } });
    const [before, after] = stdout.split("\n\n");
    // The shell sets `_` to the program it starts.
    const plain = (text: string, separator: string) =>
      text.split(separator).filter((entry) => entry !== "" && !entry.startsWith("_="));
    expect(plain(after!, "\0")).toEqual(plain(before!, "\n"));
  });

  longTest("it needs only cat.js and hand-over.js", async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "bin"));
    mkdirSync(join(folder, "dist/program"), { recursive: true });
    copyFileSync(catProgram, join(folder, "bin", "cat.js"));
    const program = "dist/program/hand-over.js";
    copyFileSync(join(catProgram, "../..", program), join(folder, program));
    const path = [temporaryFolder(), toolsWith(), "/usr/bin"];
    symlinkSync(join(folder, "bin", "cat.js"), join(path[0]!, "cat"));
    chmodSync(join(folder, "bin", "cat.js"), 0o755);
    expect(await shell("echo hi | cat", { path })).toEqual({ exit: 0, stdout: "hi\n", stderr: "" });
  });
});

describe("the choice of the system's cat", () => {
  const sayHi = "echo hi | cat";
  const hi = { exit: 0, stdout: "hi\n", stderr: "" };

  longTest("skips links to this program", async () => {
    const path = [toolsWith("own cat"), toolsWith("own cat"), "/usr/bin"];
    expect(await shell(sayHi, { path })).toEqual(hi);
  });

  longTest("falls back to the usual paths if PATH has no other cat", async () => {
    expect(await shell(sayHi, { path: [toolsWith("own cat")] })).toEqual(hi);
  });

  longTest("skips a copy of this program", async () => {
    const copy = temporaryFolder();
    mkdirSync(join(copy, "bin"));
    copyFileSync(catProgram, join(copy, "bin", "cat"));
    chmodSync(join(copy, "bin", "cat"), 0o755);
    // Starting the copy would fail, because its dist/ is missing.
    expect(await shell(sayHi, { path: [toolsWith("own cat"), join(copy, "bin"), "/usr/bin"] })).toEqual(hi);
  });

  const shims = [
    ["npm on Windows, pnpm", (js: string) => `exec node  "$basedir/${js}" "$@"\n`],
    ["with braces", (js: string) => `exec "\${basedir}/${js}" "$@"\n`],
    ["without quotes", (js: string) => `exec node ./${js} "$@"\n`],
  ] as const;
  longTest.for(shims)("skips a shim: %s", async ([, line]) => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "lib"));
    symlinkSync(catProgram, join(folder, "lib", "cat.js"));
    writeScript(
      join(folder, "cat"),
      `#!/bin/sh\nbasedir=$(dirname "$0")\necho started >&2\n${line("lib/cat.js")}`,
    );
    expect(await shell(sayHi, { path: [toolsWith("own cat"), folder, "/usr/bin"] })).toEqual(hi);
  });

  longTest("tries a wrapper that restarts this program only once, then the next cat", async () => {
    const own = toolsWith("own cat");
    const wrapper = temporaryFolder();
    writeScript(join(wrapper, "cat"), `#!/bin/sh\necho wrapped >&2\nexec ${join(own, "cat")} -n "$@"\n`);
    expect(await shell(sayHi, { path: [own, wrapper, "/usr/bin"] })).toEqual({
      exit: 0,
      stdout: "     1\thi\n",
      stderr: "wrapped\n",
    });
  });

  longTest.runIf(process.platform === "linux")(
    "removes its variable from the environment of the system's cat",
    async () => {
      const own = toolsWith("own cat");
      const wrapper = temporaryFolder();
      writeScript(join(wrapper, "cat"), `#!/bin/sh\nexec ${join(own, "cat")} "$@"\n`);
      const { stdout } = await shell("cat /proc/self/environ", { path: [own, wrapper, "/usr/bin"] });
      expect(stdout).toContain("LC_ALL=C\0");
      expect(stdout).not.toContain("CAT_HANDED_TO");
    },
  );

  longTest("ends a loop of two wrappers that start each other through this program", async () => {
    const own = toolsWith("own cat");
    const [one, two] = [temporaryFolder(), temporaryFolder()];
    writeScript(join(one, "cat"), '#!/bin/sh\necho one >&2\nexec env cat "$@"\n');
    writeScript(join(two, "cat"), '#!/bin/sh\necho two >&2\nexec env cat "$@"\n');
    expect(await shell(sayHi, { path: [own, one, two, "/usr/bin"] })).toEqual({
      exit: 0,
      stdout: "hi\n",
      stderr: "one\ntwo\n",
    });
  });

  longTest("does not start a wrapper again that comes first on PATH", async () => {
    const own = toolsWith("own cat");
    const wrapper = temporaryFolder();
    writeScript(join(wrapper, "cat"), `#!/bin/sh\necho wrapped >&2\nexec ${join(own, "cat")} -n "$@"\n`);
    expect(await shell(sayHi, { path: [wrapper, own, "/usr/bin"] })).toEqual({
      exit: 0,
      stdout: "     1\thi\n",
      stderr: "wrapped\n",
    });
  });

  longTest("takes the next cat on PATH, not the usual path", async () => {
    const next = temporaryFolder();
    writeScript(join(next, "cat"), '#!/bin/sh\necho next "$@"\nexit 42\n');
    const path = [toolsWith("own cat"), next, "/usr/bin"];
    expect(await shell("cat a 'b c' ''", { path })).toEqual({
      exit: 42,
      stdout: "next a b c \n",
      stderr: "",
    });
  });

  longTest("reads an empty entry of PATH as the current folder", async () => {
    const cwd = temporaryFolder();
    writeScript(join(cwd, "cat"), "#!/bin/sh\necho here\n");
    expect(await shell("cat x", { cwd, path: [toolsWith("own cat"), "", "/usr/bin"] })).toEqual({
      ...hi,
      stdout: "here\n",
    });
  });

  longTest("skips folders, files that are not executable, and broken scripts", async () => {
    const [folder, file, broken] = [temporaryFolder(), temporaryFolder(), temporaryFolder()];
    mkdirSync(join(folder, "cat"));
    writeFileSync(join(file, "cat"), "#!/bin/sh\necho no\n", { mode: 0o644 });
    writeScript(join(broken, "cat"), "#!/no/such/interpreter\n");
    const path = [toolsWith("own cat"), folder, file, broken, "/usr/bin"];
    expect(await shell(sayHi, { path })).toEqual(hi);
  });

  longTest("exits with 127 if there is no other cat", async () => {
    const env = { CAT_HANDED_TO: "/bin/cat\n/usr/bin/cat" };
    expect(await shell(sayHi, { path: [toolsWith("own cat")], env })).toEqual({
      exit: 127,
      stdout: "",
      stderr: "cat: cannot find the system's cat on PATH\n",
    });
  });
});

describe("signals", () => {
  /** Starts this program with its stdin open, and signals it after the first echoed line, when the system's cat runs. */
  async function signalled(path: string[], signal: NodeJS.Signals) {
    const child = spawn(catProgram, [], { env: { PATH: path.join(":") } });
    let stdout = "";
    child.stdin.write("ready\n");
    child.stdout.on("data", (bytes: Buffer) => {
      if (stdout === "") child.kill(signal);
      stdout += bytes.toString();
    });
    // stdout closes when the system's cat has closed it too.
    const closed = once(child.stdout, "close");
    const [exit, by] = await once(child, "exit");
    await closed;
    child.stdin.destroy();
    return { exit, by, stdout };
  }

  longTest.for(["SIGTERM", "SIGINT", "SIGHUP"] as const)(
    "%s ends the system's cat and this program",
    async (signal) => {
      expect(await signalled([toolsWith("own cat"), "/usr/bin"], signal)).toEqual({
        exit: null,
        by: signal,
        stdout: "ready\n",
      });
    },
  );

  longTest("the exit status is the one that a signal handler sets", async () => {
    const next = temporaryFolder();
    writeScript(
      join(next, "cat"),
      "#!/bin/bash\ntrap 'echo handled; exit 3' TERM\necho ready\nfor n in {1..200}; do sleep 0.05; done\n",
    );
    expect(await signalled([toolsWith("own cat"), next, "/usr/bin"], "SIGTERM")).toEqual({
      exit: 3,
      by: null,
      stdout: "ready\nhandled\n",
    });
  });
});
