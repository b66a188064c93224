import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { execa } from "execa";
import { describe, expect, onTestFinished } from "vitest";
import { longTest } from "../support/long-test.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { archiveOf, writeRelease, writeSums } from "./fake-release.ts";
import { newUser, pathOf, script } from "./new-user.ts";

/** The error of a command that must fail and leave nothing. */
const failed = (stderr: string) => ({ exitCode: 1, stdout: expect.any(String), stderr });

// The release that it gets has an archive for this system alone.
describe.runIf(process.platform === "linux" && process.arch === "x64")("install.sh", () => {
  longTest("puts the program into the user's folder, links it, and says what to add to PATH", async () => {
    const { home, from, bin, lib, run, installed } = newUser();
    expect(await run(["--from", from])).toEqual({
      exitCode: 0,
      stderr: "",
      stdout:
        `Getting ${archiveOf("1.0.0")} from ${from}\n` +
        `Installed catalogue 1.0.0 in ${lib}/catalogue-1.0.0-linux-x64\n` +
        "Add this line to ~/.profile (on macOS ~/.zprofile), and open another terminal:\n" +
        `  export PATH="${bin}:$PATH"`,
    });
    expect(await installed()).toBe("catalogue 1.0.0");
    expect(readdirSync(bin)).toEqual(["cat", "catalogue"]);
    expect(readdirSync(lib)).toEqual(["catalogue-1.0.0-linux-x64"]);
    const pages = join(home, ".local/share/man/man1");
    expect(readdirSync(pages)).toEqual(["cat-of-1.0.0.1", "catalogue.1"]);
    expect(readFileSync(join(pages, "catalogue.1"), "utf8")).toBe("catalogue.1");
  });

  longTest("with its folder on PATH, it says what to try instead", async () => {
    const { from, bin, run } = newUser();
    const { stdout } = await run(["--from", from], { PATH: `${bin}:${process.env.PATH}` });
    expect(stdout).toMatch(/\nTry it: catalogue products list --mock$/);
  });

  longTest("run twice, it repairs the program", async () => {
    const { from, lib, run, installed } = newUser();
    await run(["--from", from]);
    writeFileSync(join(lib, "catalogue-1.0.0-linux-x64/catalogue"), "#!/bin/sh\nexit 3\n");
    expect(await run(["--from", from])).toMatchObject({ exitCode: 0, stderr: "" });
    expect(await installed()).toBe("catalogue 1.0.0");
    expect(readdirSync(lib)).toEqual(["catalogue-1.0.0-linux-x64"]);
  });

  longTest("a repair that is stopped or overtaken in the middle leaves the complete program", async () => {
    const { from, lib, run, installed } = newUser();
    await run(["--from", from]);
    const folder = join(lib, "catalogue-1.0.0-linux-x64");
    const stopped = "kill -TERM $PPID";
    // Another installer has put the folder there.
    const overtaken = `cp -R "$2" "$1"`;
    for (const meanwhile of [stopped, overtaken]) {
      const tools = temporaryFolder();
      const real = execFileSync("which", ["mv"], { encoding: "utf8" }).trim();
      const text = `#!/bin/sh\n${real} "$@" || exit\ncase $2 in */before) ${meanwhile} ;; esac\n`;
      writeFileSync(join(tools, "mv"), text, { mode: 0o755 });
      const ran = await run(["--from", from], { PATH: `${tools}:${process.env.PATH}` });
      expect(ran).toMatchObject({ exitCode: 0, stderr: "" });
      expect(await installed()).toBe("catalogue 1.0.0");
      expect(readdirSync(folder)).toEqual(["cat", "catalogue", "man"]);
      expect(readdirSync(lib)).toEqual(["catalogue-1.0.0-linux-x64"]);
    }
  });

  longTest("upgrades, and keeps the version before alone, as a command of it may be running", async () => {
    const { home, from, lib, run, installed } = newUser();
    for (const version of ["1.0.0", "1.1.0", "2.0.0"]) {
      writeRelease(from, version);
      expect(await run(["--from", from])).toMatchObject({ exitCode: 0 });
      expect(await installed()).toBe(`catalogue ${version}`);
    }
    expect(readdirSync(lib)).toEqual(["catalogue-1.1.0-linux-x64", "catalogue-2.0.0-linux-x64"]);
    expect(readdirSync(join(home, ".local/share/man/man1"))).toEqual(["cat-of-2.0.0.1", "catalogue.1"]);
    // Back again, by its version.
    writeSums(from, "1.0.0", "2.0.0");
    expect(await run(["--from", from, "--version", "v1.0.0"])).toMatchObject({ exitCode: 0 });
    expect(await installed()).toBe("catalogue 1.0.0");
  });

  longTest("an upgrade in a folder of the user removes only versions that it has installed", async () => {
    const { home, from, run } = newUser();
    const apps = join(home, "apps");
    const own = ["catalogue-2026", "catalogue-photos", "catalogue-photos-linux-x64"];
    for (const name of own) mkdirSync(join(apps, name), { recursive: true });
    for (const version of ["1.0.0", "1.1.0", "2.0.0"]) {
      writeRelease(from, version);
      expect(await run(["--from", from, "--to", apps])).toMatchObject({ exitCode: 0 });
    }
    expect(readdirSync(apps)).toEqual(["catalogue-1.1.0-linux-x64", "catalogue-2.0.0-linux-x64", ...own]);
  });

  longTest("relative folders are those of the current folder, whatever CDPATH says", async () => {
    const { home, from, run } = newUser();
    const args = ["--from", "release", "--to", "home of anna/apps", "--bin", "home of anna/bin"];
    const result = await run(args, { CDPATH: `${from}/..` });
    expect(result).toMatchObject({ exitCode: 0, stderr: "" });
    expect(readdirSync(join(home, "bin"))).toEqual(["cat", "catalogue"]);
  });

  longTest.skipIf(process.getuid?.() !== 0)(
    "says which folders it cannot write, before it downloads; without a place for man pages it installs the rest",
    async () => {
      const { home, from, bin, lib } = newUser();
      for (const folder of [bin, lib, join(home, ".local/share")]) mkdirSync(folder, { recursive: true });
      const asNobody = async (writable: readonly string[]) => {
        for (const folder of [bin, lib]) chownSync(folder, writable.includes(folder) ? 65_534 : 0, 0);
        // Its folder is closed to others.
        for (let at = home; at !== tmpdir(); at = dirname(at)) chmodSync(at, 0o755);
        const nobody = ["--reuid=65534", "--regid=65534", "--clear-groups"];
        return execa("setpriv", [...nobody, "sh", "-s", "--", "--from", from], {
          ...{ input: readFileSync(script, "utf8"), cwd: "/", extendEnv: false, reject: false },
          env: { HOME: home, PATH: process.env.PATH ?? "" },
        });
      };
      const next = "Choose folders of your own with --to and --bin.";
      for (const writable of [[], [bin], [lib]]) {
        const { exitCode, stdout, stderr } = await asNobody(writable);
        expect({ exitCode, stdout, stderr }).toEqual(
          failed(`error: cannot write to ${lib} and ${bin}\n${next}`),
        );
        expect([stdout, readdirSync(bin), readdirSync(lib)]).toEqual(["", [], []]);
      }
      const { exitCode, stderr } = await asNobody([bin, lib]);
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
      expect(readdirSync(bin)).toEqual(["cat", "catalogue"]);
    },
  );

  longTest("--no-cat links catalogue alone, and removes an earlier link", async () => {
    const { from, bin, run } = newUser();
    await run(["--from", from]);
    await run(["--from", from, "--no-cat"]);
    expect(readdirSync(bin)).toEqual(["catalogue"]);
  });

  longTest("downloads from a URL of this machine, with curl and with wget", async () => {
    const { from, run, installed, lib } = newUser();
    const asked: string[] = [];
    const server = createServer(({ url = "" }, response) => {
      asked.push(url);
      const path = join(from, url.replace(/^\/files/, ""));
      if (existsSync(path)) response.end(readFileSync(path));
      else response.writeHead(404).end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    expect(await run(["--from", `${address}/files/`])).toMatchObject({ exitCode: 0, stderr: "" });
    expect(asked).toEqual(["/files/SHA256SUMS", `/files/${archiveOf("1.0.0")}`]);
    expect(await installed()).toBe("catalogue 1.0.0");
    expect(await run(["--from", address], { PATH: pathOf("wget", "sha256sum") })).toMatchObject({
      exitCode: 0,
      stderr: "",
    });
    expect(asked).toHaveLength(4);
    const missing = await run(["--from", `${address}/files/none`]);
    expect(missing.stderr).toMatch(
      /^error: cannot get SHA256SUMS from http:\/\/127\.0\.0\.1:\d+\/files\/none: curl: .*404.*\nCheck the address and your network, or use --from FOLDER\.$/,
    );
    expect(readdirSync(lib)).toEqual(["catalogue-1.0.0-linux-x64"]);
  });

  longTest("needs no HOME where both folders are chosen, and takes / for the root", async () => {
    const { home, from, run } = newUser();
    const [to, bin] = [join(home, "apps"), join(home, "bin")];
    for (const env of [{ HOME: "" }, { HOME: undefined }])
      expect(await run(["--from", from, "--to", to, "--bin", bin], env)).toMatchObject({
        ...{ exitCode: 0, stderr: "" },
      });
    expect(readdirSync(home).sort()).toEqual(["apps", "bin", "share"]);
    expect((await run(["--from", "/"])).stderr).toMatch(/^error: cannot get SHA256SUMS from \/: cp: /);
  });

  longTest(
    "names the programs that it needs and that are not installed, before it writes anything",
    async () => {
      const { home, from, run } = newUser();
      const missing = async (...tools: string[]) =>
        (await run(["--from", from], { PATH: pathOf(...tools) })).stderr;
      const next = "Install what is missing, and run this again.";
      expect(await missing()).toBe(`error: not installed: sha256sum\n${next}`);
      const none = temporaryFolder();
      for (const tool of ["sh", "uname"]) symlinkSync(join(pathOf(), tool), join(none, tool));
      expect((await run(["--from", from], { PATH: none })).stderr).toBe(
        `error: not installed: grep sed tar gzip sha256sum\n${next}`,
      );
      expect(readdirSync(home)).toEqual([]);
      expect(await missing("openssl")).toBe("");
    },
  );

  longTest("rejects a file that is cut, changed or missing, and leaves what is installed", async () => {
    const { from, lib, run, installed } = newUser();
    await run(["--from", from]);
    writeRelease(from, "1.1.0");
    const path = join(from, archiveOf("1.1.0"));
    const bytes = readFileSync(path);
    const wrong = failed(
      `error: ${archiveOf("1.1.0")} is cut or changed: its SHA-256 is not the one in SHA256SUMS; nothing was installed\n` +
        "Run this again. If it fails again, report it.",
    );
    truncateSync(path, bytes.length - 1);
    expect(await run(["--from", from])).toEqual(wrong);
    truncateSync(path, 0);
    expect(await run(["--from", from])).toEqual(wrong);
    bytes[bytes.length - 9]! ^= 1;
    writeFileSync(path, bytes);
    expect(await run(["--from", from])).toEqual(wrong);
    writeFileSync(join(from, "SHA256SUMS"), `${"0".repeat(64)}  catalogue-3.0.0-linux-x64.tar.gz\n`);
    expect((await run(["--from", from])).stderr).toMatch(
      /^error: cannot get catalogue-3\.0\.0-linux-x64\.tar\.gz from \S+: cp: .*\nCheck the address .*$/,
    );
    expect(await installed()).toBe("catalogue 1.0.0");
    expect(readdirSync(lib)).toEqual(["catalogue-1.0.0-linux-x64"]);
  });

  longTest("rejects sums without exactly one archive for this system", async () => {
    const { from, bin, lib, run } = newUser();
    const line = readFileSync(join(from, "SHA256SUMS"), "utf8");
    const none = (version = "") =>
      failed(
        `error: SHA256SUMS of ${from} does not have one archive ${version}for linux-x64\n` +
          "Choose a version of the releases page with --version.",
      );
    expect(await run(["--from", from, "--version", "1.0.1"])).toEqual(none("of version 1.0.1 "));
    for (const sums of [
      "",
      line.replace("linux-x64", "macos-x64"),
      line.replace("catalogue-1", "../catalogue-1"),
      line + line.replace("1.0.0", "1.1.0"),
    ]) {
      writeFileSync(join(from, "SHA256SUMS"), sums);
      expect(await run(["--from", from])).toEqual(none());
    }
    expect([...readdirSync(bin), ...readdirSync(lib)]).toEqual([]);
  });

  longTest("keeps what is installed if the program does not start here", async () => {
    const { from, lib, run, installed } = newUser();
    await run(["--from", from]);
    writeRelease(from, "1.1.0", "echo 'lib/node: not found' >&2; exit 127");
    expect(await run(["--from", from])).toEqual(
      failed(
        `error: ${archiveOf("1.1.0")} does not start here: lib/node: not found\n` +
          "It needs glibc 2.28 or macOS 14. Elsewhere install Node 20.19 or newer, then the package with npm.",
      ),
    );
    expect(await installed()).toBe("catalogue 1.0.0");
    expect(readdirSync(lib)).toEqual(["catalogue-1.0.0-linux-x64"]);
  });

  longTest("replaces no program that it has not installed", async () => {
    for (const make of [
      (path: string) => writeFileSync(path, "mine"),
      (path: string) => symlinkSync("/usr/bin/env", path),
    ]) {
      const { from, bin, lib, run } = newUser();
      mkdirSync(bin, { recursive: true });
      make(join(bin, "cat"));
      expect(await run(["--from", from])).toEqual(
        failed(
          `error: ${bin}/cat exists and is not from this installer\n` +
            "Remove it, or choose another folder with --bin FOLDER.",
        ),
      );
      expect([readdirSync(bin), readdirSync(lib)]).toEqual([["cat"], []]);
      expect(await run(["--from", from, "--no-cat"])).toMatchObject({ exitCode: 0 });
      expect(lstatSync(join(bin, "cat")).isSymbolicLink() ? readlinkSync(join(bin, "cat")) : "mine").toMatch(
        /^(?:mine|\/usr\/bin\/env)$/,
      );
    }
  });

  longTest("says what is wrong with its options, and downloads nothing unencrypted", async () => {
    const { home, lib, run } = newUser();
    const options = "Show the options: install.sh --help";
    expect(await run(["--quick"])).toEqual(failed(`error: unknown option --quick\n${options}`));
    expect(await run(["--from"])).toEqual(failed(`error: --from needs a value\n${options}`));
    expect(await run(["--from", "none"])).toEqual(
      failed("error: --from is not a folder or a URL\nChoose the folder that has SHA256SUMS."),
    );
    for (const url of [
      "http://example.com/a",
      "http://127.0.0.1.example.com/",
      "http://localhost.example.com/",
    ])
      expect((await run(["--from", url])).stderr).toBe(
        `error: ${url.replace(/\/$/, "")} is not encrypted: others could change the program on its way\n` +
          "Use https://, or download the files and use --from FOLDER.",
      );
    expect(await run(["--from", "."], { HOME: "" })).toEqual(
      failed("error: HOME is not set\nSet it to your folder, or use --to FOLDER and --bin FOLDER."),
    );
    const help = await run(["--help"]);
    expect(help).toMatchObject({ exitCode: 0, stderr: "" });
    expect(help.stdout).toMatch(/^usage: install\.sh \[--version VERSION\]/);
    expect([existsSync(lib), readdirSync(home)]).toEqual([false, []]);
  });

  longTest("works from a pipe, as from a download, and does nothing if the script is cut", async () => {
    const { home, from, installed } = newUser();
    const text = readFileSync(script, "utf8");
    const env = { HOME: home, PATH: process.env.PATH ?? "" };
    const piped = (input: string) =>
      execa("sh", ["-s", "--", "--from", from], { input, env, extendEnv: false, reject: false });
    const lines = text.split("\n");
    for (let count = 10; count < lines.length - 1; count += 25) {
      await piped(lines.slice(0, count).join("\n"));
      expect(readdirSync(home)).toEqual([]);
    }
    expect(await piped(text)).toMatchObject({ exitCode: 0, stderr: "" });
    expect(await installed()).toBe("catalogue 1.0.0");
  });
});
