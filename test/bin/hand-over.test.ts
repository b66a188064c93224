import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, copyFileSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { beforeEach, describe, expect, test } from "vitest";
import { catProgram, needsBuild } from "../support/spawn-cat.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** A folder with what a shell needs, and no cat. */
function folderWithout(cat: "no cat" | "our cat" = "no cat"): string {
  const folder = temporaryFolder();
  symlinkSync(process.execPath, join(folder, "node"));
  for (const tool of ["bash", "sh", "env", "head", "sleep", "dirname", "sed", "printf"]) {
    symlinkSync(`/usr/bin/${tool}`, join(folder, tool));
  }
  if (cat === "our cat") symlinkSync(catProgram, join(folder, "cat"));
  return folder;
}

interface Shell {
  path?: string[];
  env?: Record<string, string>;
  cwd?: string;
  input?: string;
}

/** Runs a script in bash, on a PATH that begins with our cat. */
async function shell(script: string, { path, env, cwd, input }: Shell = {}) {
  const folders = path ?? [folderWithout("our cat"), "/usr/bin", "/bin"];
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

describe("a foreign call behaves as ever", () => {
  test.for([
    ["a file", "cat notes.txt", "one\ntwo\n"],
    ["a pipe", "echo hi | cat", "hi\n"],
    ["a flag", "cat -n notes.txt", "     1\tone\n     2\ttwo\n"],
    ["a here-document", "cat <<EOF\ntext $((1 + 1))\nEOF", "text 2\n"],
    ["a file as stdin", "cat < notes.txt", "one\ntwo\n"],
    ["stdin by its name", "echo hi | cat notes.txt - notes.txt", "one\ntwo\nhi\none\ntwo\n"],
    ["several in a pipe", "cat notes.txt | cat | cat -", "one\ntwo\n"],
    ["a file named like a command", "echo file > import; cat ./import; cat -- import", "file\nfile\n"],
    ["a flag before the name of a command", "echo file > products; cat -n products", "     1\tfile\n"],
    ["a file that is written", "cat notes.txt > copy.txt; cat copy.txt", "one\ntwo\n"],
    ["process substitution", "cat <(echo a) <(echo b)", "a\nb\n"],
    ["a low descriptor", "cat /dev/fd/3 3< notes.txt", "one\ntwo\n"],
    ["a low descriptor, by its other name", "cat /proc/self/fd/7 7< notes.txt", "one\ntwo\n"],
    ["a low descriptor that is a pipe", "cat /dev/fd/4 4< <(echo pipe)", "pipe\n"],
    ["a name with spaces and quotes", `echo x > "a 'b' \\"c\\""; cat "a 'b' \\"c\\""`, "x\n"],
    ["a name that is not UTF-8", "echo latin > $'caf\\xe9'; cat notes.txt $'caf\\xe9'", "one\ntwo\nlatin\n"],
    ["such a name with a line end", "echo odd > $'caf\\xe9\\n'; cat $'caf\\xe9\\n'", "odd\n"],
    ["the exit status of a pipe's end", "cat notes.txt | head -n 1", "one\n"],
  ] as const)("%s", async ([, script, stdout]) => {
    const cwd = temporaryFolder();
    writeFileSync(join(cwd, "notes.txt"), "one\ntwo\n");
    expect(await shell(script, { cwd })).toEqual({ exit: 0, stdout, stderr: "" });
  });

  test("bytes that are no text pass unchanged", async () => {
    const cwd = temporaryFolder();
    const bytes = Uint8Array.from({ length: 300_000 }, (_, index) => (index * 7) % 256);
    writeFileSync(join(cwd, "photo.bin"), bytes);
    const path = [folderWithout("our cat"), "/usr/bin", "/bin"].join(":");
    const ran = await execa("/bin/bash", ["--norc", "-c", "cat photo.bin | cat - photo.bin"], {
      cwd,
      env: { PATH: path },
      encoding: "buffer",
    });
    expect(Buffer.from(ran.stdout).equals(Buffer.concat([bytes, bytes]))).toBe(true);
  });

  test("a missing file: the system's words and its status", async () => {
    expect(await shell("cat no-such-file")).toEqual({
      exit: 1,
      stdout: "",
      stderr: "cat: no-such-file: No such file or directory\n",
    });
  });

  test("an empty argument and an unknown flag are passed on", async () => {
    expect((await shell("cat ''")).stderr).toBe("cat: '': No such file or directory\n");
    expect((await shell("cat --no-such-flag")).stderr).toContain("unrecognized option '--no-such-flag'");
  });

  test("a global flag of ours without a command of ours", async () => {
    expect((await shell("cat --json notes")).stderr).toContain("unrecognized option '--json'");
    expect((await shell("cat --profile")).stderr).toContain("unrecognized option '--profile'");
  });

  test("descriptors that are not open stay closed, though Node has some of those numbers", async () => {
    const numbers = [3, 4, 5, 6, 7, 8, 9];
    expect(await shell(`for n in ${numbers.join(" ")}; do cat /dev/fd/$n; done`)).toEqual({
      exit: 1,
      stdout: "",
      stderr: numbers.map((n) => `cat: /dev/fd/${n}: No such file or directory\n`).join(""),
    });
  });

  test("a reader that goes away ends it by SIGPIPE, as a shell expects", async () => {
    const ran = await shell("set -o pipefail; cat /dev/zero | head -c 10 > /dev/null; echo $PIPESTATUS");
    expect(ran).toEqual({ exit: 0, stdout: "141\n", stderr: "" });
  });

  test.runIf(process.platform === "linux")("the environment as it was", async () => {
    // The last command of a shell takes its place, with another SHLVL.
    const script = "env; echo; cat /proc/self/environ; :";
    const { stdout } = await shell(script, { env: { LANG: "C", EMPTY: "", ODD: "a\tb=c" } });
    const [before, after] = stdout.split("\n\n");
    // The shell sets `_` to the program it starts.
    const plain = (text: string, separator: string) =>
      text.split(separator).filter((entry) => entry !== "" && !entry.startsWith("_="));
    expect(plain(after!, "\0")).toEqual(plain(before!, "\n"));
  });

  test("nothing of ours is loaded before: it works without the rest of the program", async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "bin"));
    mkdirSync(join(folder, "dist"));
    writeFileSync(join(folder, "package.json"), '{"type":"module"}');
    copyFileSync(catProgram, join(folder, "bin", "cat.js"));
    copyFileSync(join(catProgram, "../../dist/hand-over.js"), join(folder, "dist", "hand-over.js"));
    const path = [temporaryFolder(), folderWithout(), "/usr/bin"];
    symlinkSync(join(folder, "bin", "cat.js"), join(path[0]!, "cat"));
    chmodSync(join(folder, "bin", "cat.js"), 0o755);
    expect(await shell("echo hi | cat", { path })).toEqual({ exit: 0, stdout: "hi\n", stderr: "" });
  });
});

describe("finding itself on PATH", () => {
  const sayHi = "echo hi | cat";
  const hi = { exit: 0, stdout: "hi\n", stderr: "" };

  test("twice, by links", async () => {
    const path = [folderWithout("our cat"), folderWithout("our cat"), "/usr/bin"];
    expect(await shell(sayHi, { path })).toEqual(hi);
  });

  test("only ours: the usual places are tried", async () => {
    expect(await shell(sayHi, { path: [folderWithout("our cat")] })).toEqual(hi);
  });

  test("a copy of the whole program", async () => {
    const copy = temporaryFolder();
    mkdirSync(join(copy, "bin"));
    copyFileSync(catProgram, join(copy, "bin", "cat"));
    chmodSync(join(copy, "bin", "cat"), 0o755);
    // It would fail if it were started: its dist/ is missing.
    expect(await shell(sayHi, { path: [folderWithout("our cat"), join(copy, "bin"), "/usr/bin"] })).toEqual(
      hi,
    );
  });

  test.for([
    ["npm on Windows, pnpm", (js: string) => `exec node  "$basedir/${js}" "$@"\n`],
    ["with braces", (js: string) => `exec "\${basedir}/${js}" "$@"\n`],
    ["without quotes", (js: string) => `exec node ./${js} "$@"\n`],
  ] as const)("a shim: %s", async ([, line]) => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "lib"));
    symlinkSync(catProgram, join(folder, "lib", "cat.js"));
    writeScript(
      join(folder, "cat"),
      `#!/bin/sh\nbasedir=$(dirname "$0")\necho started >&2\n${line("lib/cat.js")}`,
    );
    expect(await shell(sayHi, { path: [folderWithout("our cat"), folder, "/usr/bin"] })).toEqual(hi);
  });

  test("a wrapper that calls us back is tried once, and the next one takes over", async () => {
    const ours = folderWithout("our cat");
    const wrapper = temporaryFolder();
    writeScript(join(wrapper, "cat"), `#!/bin/sh\necho wrapped >&2\nexec ${join(ours, "cat")} -n "$@"\n`);
    expect(await shell(sayHi, { path: [ours, wrapper, "/usr/bin"] })).toEqual({
      exit: 0,
      stdout: "     1\thi\n",
      stderr: "wrapped\n",
    });
  });

  test.runIf(process.platform === "linux")(
    "a wrapper that calls us back: the system's cat sees nothing of it",
    async () => {
      const ours = folderWithout("our cat");
      const wrapper = temporaryFolder();
      writeScript(join(wrapper, "cat"), `#!/bin/sh\nexec ${join(ours, "cat")} "$@"\n`);
      const { stdout } = await shell("cat /proc/self/environ", { path: [ours, wrapper, "/usr/bin"] });
      expect(stdout).toContain("LC_ALL=C\0");
      expect(stdout).not.toContain("CAT_HANDED_TO");
    },
  );

  test("two wrappers that call each other through us end too", async () => {
    const ours = folderWithout("our cat");
    const [one, two] = [temporaryFolder(), temporaryFolder()];
    writeScript(join(one, "cat"), '#!/bin/sh\necho one >&2\nexec env cat "$@"\n');
    writeScript(join(two, "cat"), '#!/bin/sh\necho two >&2\nexec env cat "$@"\n');
    expect(await shell(sayHi, { path: [ours, one, two, "/usr/bin"] })).toEqual({
      exit: 0,
      stdout: "hi\n",
      stderr: "one\ntwo\n",
    });
  });

  test("a wrapper before ours on PATH is not entered again", async () => {
    const ours = folderWithout("our cat");
    const wrapper = temporaryFolder();
    writeScript(join(wrapper, "cat"), `#!/bin/sh\necho wrapped >&2\nexec ${join(ours, "cat")} -n "$@"\n`);
    expect(await shell(sayHi, { path: [wrapper, ours, "/usr/bin"] })).toEqual({
      exit: 0,
      stdout: "     1\thi\n",
      stderr: "wrapped\n",
    });
  });

  test("the cat that is taken is the next on PATH, not the usual one", async () => {
    const next = temporaryFolder();
    writeScript(join(next, "cat"), '#!/bin/sh\necho next "$@"\nexit 42\n');
    const path = [folderWithout("our cat"), next, "/usr/bin"];
    expect(await shell("cat a 'b c' ''", { path })).toEqual({
      exit: 42,
      stdout: "next a b c \n",
      stderr: "",
    });
  });

  test("an empty entry of PATH is the current folder", async () => {
    const cwd = temporaryFolder();
    writeScript(join(cwd, "cat"), "#!/bin/sh\necho here\n");
    expect(await shell("cat x", { cwd, path: [folderWithout("our cat"), "", "/usr/bin"] })).toEqual({
      ...hi,
      stdout: "here\n",
    });
  });

  test("folders, files that cannot be started and broken scripts named cat are passed over", async () => {
    const [folder, file, broken] = [temporaryFolder(), temporaryFolder(), temporaryFolder()];
    mkdirSync(join(folder, "cat"));
    writeFileSync(join(file, "cat"), "#!/bin/sh\necho no\n", { mode: 0o644 });
    writeScript(join(broken, "cat"), "#!/no/such/interpreter\n");
    const path = [folderWithout("our cat"), folder, file, broken, "/usr/bin"];
    expect(await shell(sayHi, { path })).toEqual(hi);
  });

  test("no other cat anywhere: a sentence and 127", async () => {
    const env = { CAT_HANDED_TO: "/bin/cat\n/usr/bin/cat" };
    expect(await shell(sayHi, { path: [folderWithout("our cat")], env })).toEqual({
      exit: 127,
      stdout: "",
      stderr: "cat: there is no other cat on PATH that this call could be handed to\n",
    });
  });
});

describe("signals", () => {
  /** Starts our cat with its input held open, and signals it once it has echoed a line: then the system's cat runs. */
  async function signalled(path: string[], signal: NodeJS.Signals) {
    const child = spawn(catProgram, [], { env: { PATH: path.join(":") } });
    let stdout = "";
    child.stdin.write("ready\n");
    child.stdout.on("data", (bytes: Buffer) => {
      if (stdout === "") child.kill(signal);
      stdout += bytes.toString();
    });
    // stdout closes when the system's cat has let go of it as well.
    const closed = once(child.stdout, "close");
    const [exit, by] = await once(child, "exit");
    await closed;
    child.stdin.destroy();
    return { exit, by, stdout };
  }

  test.for(["SIGTERM", "SIGINT", "SIGHUP"] as const)(
    "%s ends the system's cat, and us by the same",
    async (signal) => {
      expect(await signalled([folderWithout("our cat"), "/usr/bin"], signal)).toEqual({
        exit: null,
        by: signal,
        stdout: "ready\n",
      });
    },
  );

  test("a signal that is handled gives the status that the handler gives", async () => {
    const next = temporaryFolder();
    writeScript(
      join(next, "cat"),
      "#!/bin/bash\ntrap 'echo told; exit 3' TERM\necho ready\nfor n in {1..200}; do sleep 0.05; done\n",
    );
    expect(await signalled([folderWithout("our cat"), next, "/usr/bin"], "SIGTERM")).toEqual({
      exit: 3,
      by: null,
      stdout: "ready\ntold\n",
    });
  });
});
