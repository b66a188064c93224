import { existsSync, readdirSync, readFileSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { getNode } from "../../scripts/portable/get-packages.js";
import { platforms } from "../../scripts/portable/platforms.js";
import { leftToDo } from "../../scripts/release/left-to-do.js";
import { cycloneDxCheck } from "../package/cyclonedx.ts";
import { installTable, rowWith } from "../package/install-table.ts";
import { isLong } from "../support/repetitions.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { emptyRoot, emulated, noEmulator, noRoots } from "./empty-root.ts";
import { archiveName, machineOf, macProgram, makeRelease, type Release, unpacked } from "./made-release.ts";
import { noWine, smallWine } from "./small-wine.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const version = manifest.version;

/** What an import and its undo print, after each other, without their times. */
const importAndUndo = (file: string) => [
  expect.stringMatching(/^state in .*: new, empty$/),
  `Imported 24 rows from ${file}: 24 created.`,
  `The import of ${file} changed 24 products: 24 products to delete (at most 24 requests, about 1 min).`,
  "Webhooks that were sent and credits that were spent are not undone.",
  `Undone: 24 of 24 products of ${file}: 24 products deleted.`,
];
const withoutTimes = (text: string) => text.replace(/ in \d+(?:\.\d)? s:/, ":").split("\n");

// `npm run test:long` only: this gets Node for five systems from the registry.
describe.runIf(isLong)("a release", () => {
  let release: Release;
  /** Why none can be made. */
  let unavailable = "";
  beforeAll(async () => {
    const made = await makeRelease();
    if (typeof made === "string") unavailable = made;
    else release = made;
  });
  afterAll(() => release?.close());
  /** The cells that the tests give to archives in the table of docs/install.md, by system. */
  const cells = new Map<string, string>();

  test("has the package, an archive for each system, the bill of materials, installers, notes, and their sums", async ({
    skip,
  }) => {
    skip(unavailable !== "", unavailable);
    const names = platforms.map(({ name, archive }) => archiveName(name) + archive);
    expect(readdirSync(release.folder).sort()).toEqual(
      [
        ...[
          "NOTES.md",
          "SHA256SUMS",
          "install.ps1",
          "install.sh",
          `catalogue-${version}.sbom.cdx.json`,
          ...names,
        ],
        `catalogue-imaging-catalogue-${version}.tgz`,
      ].sort(),
    );
    const { stdout } = await execa("sha256sum", ["--check", "SHA256SUMS"], { cwd: release.folder });
    expect(stdout.split("\n").map((line) => line.replace(": OK", ""))).toHaveLength(names.length + 5);
    const sizes = names.map((name) => statSync(join(release.folder, name)).size);
    expect(sizes.filter((size) => size < 40_000_000 || size > 60_000_000)).toEqual([]);
    for (const name of ["install.sh", "install.ps1"])
      expect(readFileSync(join(release.folder, name), "utf8")).toBe(readFileSync(join(root, name), "utf8"));
    const left = leftToDo(root).map((line) => `- ${line}\n`);
    if (left.length > 0 && release.printed !== "")
      expect(release.printed).toContain(`Left to do before this release:\n${left.join("")}Made 11 files in `);
  });

  test.for(platforms)(
    "its archive for $name has Node and packages for that system alone, docs and licenses",
    async ({ name, os }, { skip }) => {
      skip(unavailable !== "", unavailable);
      const folder = await unpacked(release, name, temporaryFolder());
      const ending = os === "win32" ? ".cmd" : "";
      expect(readdirSync(folder).sort()).toEqual(
        [
          ...[
            "CHANGELOG.md",
            "LICENSE",
            "README.md",
            "SECURITY.md",
            "SHA256SUMS",
            `cat${ending}`,
            `catalogue${ending}`,
          ],
          ...["docs", "fixtures", "lib", "licenses", "man", "sbom.cdx.json"],
        ].sort(),
      );
      const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) =>
        statSync(join(folder, path)).isFile(),
      );
      const sums = await execa("sha256sum", ["--check", "--quiet", "SHA256SUMS"], { cwd: folder });
      expect(sums.stdout).toBe("");
      expect(readFileSync(join(folder, "SHA256SUMS"), "utf8").split("\n")).toHaveLength(files.length);

      const binaries = files.flatMap((path) => {
        const machine = machineOf(join(folder, path));
        return machine === null ? [] : [{ path, machine }];
      });
      expect(new Set(binaries.map(({ machine }) => machine))).toEqual(new Set([name.replace("-", " ")]));
      const kinds = [
        /^lib\/node(\.exe)?$/,
        /@libsql\/.*\.node$/,
        /@napi-rs\/keyring-.*\.node$/,
        /@img\/sharp-[^/]*\/.*\.node$/,
        /libvips/,
      ];
      expect(kinds.filter((kind) => !binaries.some(({ path }) => kind.test(path)))).toEqual([]);

      if (os === "darwin") {
        const programs = binaries.map(({ path }) => macProgram(join(folder, path)));
        expect(programs.filter(({ macos }) => macos < 10 || macos > 14)).toEqual([]);
        // On arm64 macOS runs nothing that is not signed; Node is on both.
        expect(macProgram(join(folder, "lib/node")).isSigned).toBe(true);
        if (name === "macos-arm64") expect(programs.filter(({ isSigned }) => !isSigned)).toEqual([]);
        cells.set(name.replace("macos-", "macOS "), "not run: contents checked");
      }

      const has = [
        "docs/guide.md",
        "docs/install.md",
        "docs/reference/import.md",
        "man/man1/cat-import.1",
        "fixtures/products.csv",
      ];
      const licenses = [
        "node.txt",
        "bundled-packages.txt",
        "sharp.txt",
        "libsql.txt",
        "@napi-rs-keyring.txt",
      ];
      const wanted = [...has, ...licenses.map((one) => `licenses/${one}`)];
      expect(wanted.filter((path) => !files.includes(path))).toEqual([]);
      expect(readFileSync(join(folder, "licenses/node.txt"), "utf8")).toMatch(
        /^Node\.js is licensed for use as follows:/,
      );
      expect(files.filter((path) => /musl|\.map$|^lib\/dist\/(?!program\/)/.test(path))).toEqual([]);
      const installed = files
        .filter((path) => /node_modules\/(?:@[^/]+\/)?[^/]+\/package\.json$/.test(path))
        .map((path) => JSON.parse(readFileSync(join(folder, path), "utf8")))
        .map((one) => `pkg:npm/${one.name.replace("@", "%40")}@${one.version}`);
      const bill = JSON.parse(readFileSync(join(folder, "sbom.cdx.json"), "utf8"));
      const isValid = cycloneDxCheck();
      expect([isValid(bill), isValid.errors]).toEqual([true, null]);
      const { components } = bill;
      const purls = components.map(({ purl }: { purl: string }) => purl);
      expect(installed.filter((one) => !purls.includes(one))).toEqual([]);
      expect(purls[0]).toMatch(/^pkg:generic\/node@22\./);
      expect(purls.some((one: string) => one.startsWith("pkg:npm/undici@"))).toBe(true);
    },
  );

  test("its archive for Linux imports a file and undoes it in a root without Node", async ({ skip }) => {
    skip(unavailable !== "" || noRoots !== "", unavailable || noRoots);
    const folder = temporaryFolder();
    const run = await emptyRoot(join(folder, "root"), await unpacked(release, "linux-x64", folder));
    expect(await run(["/bin/sh", "-c", "node --version"])).toMatchObject({ exitCode: 127 });
    const script =
      "/program/catalogue import --no-progress /program/fixtures/products.csv && /program/cat imports undo last --no-progress --yes";
    const { exitCode, stdout, stderr } = await run([
      "/program/catalogue",
      "serve",
      "--mock",
      "--",
      "/bin/sh",
      "-c",
      script,
    ]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: "" });
    expect(withoutTimes(stderr)).toEqual(importAndUndo("/program/fixtures/products.csv"));

    expect(await run(["/program/cat", "--version"])).toEqual({
      exitCode: 0,
      stdout: `catalogue ${version}`,
      stderr: "",
    });
    const doctor = await run(["/program/catalogue", "doctor", "--mock"]);
    expect(doctor.stdout).toMatch(/^ok +node +Node 22\./m);
    expect(doctor.stdout).toMatch(/^ok +state +/m);
    const photos = [
      "serve",
      "--mock",
      "--demo",
      "1",
      "--",
      "/program/catalogue",
      "export",
      "sync",
      "/tmp/mirror",
    ];
    expect(await run(["/program/catalogue", ...photos])).toMatchObject({ exitCode: 0 });
    for (const shell of ["bash", "zsh", "fish"])
      expect((await run(["/program/catalogue", "completion", shell])).stdout).toContain(
        "catalogue __complete",
      );
    expect((await run(["/program/catalogue", "__complete", "catalogue", "imp"])).stdout).toMatch(
      /^import\b/m,
    );
    // Without another cat, what is not for this program cannot be handed over.
    expect(await run(["/program/cat", "/dev/null"])).toMatchObject({ exitCode: 127 });
    cells.set("Linux x64, without Node", "✓");
  });

  test("its archive for Linux on arm64 imports a file and undoes it, in an emulator", async ({ skip }) => {
    skip(unavailable !== "" || noEmulator !== "", unavailable || noEmulator);
    const { catalogue, cat } = emulated(await unpacked(release, "linux-arm64", temporaryFolder()));
    const [file, home] = [join(root, "fixtures/products.csv"), temporaryFolder()];
    const steps = `${[...catalogue, "import", "--no-progress", file].join(" ")} && ${[...cat, "imports", "undo", "last", "--no-progress", "--yes"].join(" ")}`;
    const [program = "", ...args] = [...catalogue, "serve", "--mock", "--", "/bin/sh", "-c", steps];
    const env = { HOME: home, PATH: process.env.PATH ?? "" };
    const { exitCode, stderr } = await execa(program, args, {
      cwd: home,
      env,
      extendEnv: false,
      reject: false,
    });
    expect([exitCode, withoutTimes(stderr)]).toEqual([0, importAndUndo(file)]);
    cells.set("Linux arm64, in qemu", "✓");
  });

  test("install.sh installs its archive; cat hands over to the system's, and a moved folder works", async ({
    skip,
  }) => {
    skip(unavailable !== "" || noRoots !== "", unavailable || noRoots);
    const home = temporaryFolder();
    const env = { HOME: home, PATH: `${join(home, ".local/bin")}:${process.env.PATH}` };
    const run = async (command: string, ...args: string[]) => {
      const { exitCode, stdout } = await execa(command, args, {
        cwd: home,
        env,
        extendEnv: false,
        reject: false,
      });
      return { exitCode, stdout };
    };
    expect(await run("sh", join(release.folder, "install.sh"), "--from", release.folder)).toMatchObject({
      exitCode: 0,
    });
    expect(await run("catalogue", "--version")).toEqual({ exitCode: 0, stdout: `catalogue ${version}` });
    expect(await run("sh", "-c", "echo hi | cat -n")).toEqual({ exitCode: 0, stdout: "     1\thi" });
    const imported = ["import", join(root, "fixtures/products.csv"), "--mock"];
    expect(await run("cat", ...imported)).toMatchObject({ exitCode: 0 });
    if (existsSync("/usr/bin/man")) expect((await run("man", "-w", "cat-import")).stdout).toContain(home);
    const folder = join(home, ".local/lib/catalogue", archiveName("linux-x64"));
    renameSync(folder, join(home, "a folder"));
    expect(await run(join(home, "a folder/catalogue"), ...imported)).toMatchObject({ exitCode: 0 });
  });

  test("its archive for Windows imports a file and undoes it by its launchers, from a folder with a space and &", async ({
    skip,
  }) => {
    skip(unavailable !== "" || noWine !== "", unavailable || noWine);
    const wine = await smallWine(temporaryFolder());
    onTestFinished(async () => void (await wine.close()));
    const folder = await unpacked(release, "windows-x64", wine.drive);
    renameSync(folder, join(wine.drive, "Program Files/R&D (1)"));
    const program = String.raw`C:\Program Files\R&D (1)`;
    const [cd, both] = [`cd /d "${program}"`, String.raw`"${program}\catalogue.cmd"`];
    expect(await wine.run([cd, "cat.cmd --version"])).toEqual({
      exitCode: 0,
      stdout: `catalogue ${version}`,
      stderr: "",
    });
    wine.write("steps.cmd", [
      String.raw`call catalogue.cmd import fixtures\products.csv --no-progress`,
      "call cat.cmd imports undo last --yes --no-progress",
    ]);
    const served = await wine.run([cd, String.raw`catalogue.cmd serve --mock -- cmd /c C:\run\steps.cmd`]);
    expect(withoutTimes(served.stderr ?? "")).toEqual(
      importAndUndo(String.raw`fixtures\products.csv`).slice(1),
    );
    expect(served.exitCode).toBe(0);
    const failed = await wine.run([cd, `${both} import "none & none.csv" --mock`]);
    expect(failed).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("none & none.csv does not exist"),
    });
    const doctor = await wine.run([cd, "catalogue.cmd doctor --mock"]);
    expect(doctor.stdout).toMatch(/^ok +node +Node 22\./m);
    expect(doctor.stdout).toMatch(/^ok +state +/m);
    expect((await wine.run([cd, "catalogue.cmd completion bash"])).stdout).toContain("catalogue __complete");
    cells.set("Windows x64, in Wine", "✓");
  });

  test("docs/install.md has a tick for each archive that was run, in the column of its Node", ({ skip }) => {
    skip(unavailable !== "", unavailable);
    const systems = [
      ["Linux x64, without Node", noRoots],
      ["Linux arm64, in qemu", noEmulator],
      ["macOS x64", ""],
      ["macOS arm64", ""],
      ["Windows x64, in Wine", noWine],
    ].filter(([, missing]) => missing === "");
    const [, node = ""] = platforms[0].node.split("@");
    const rows = systems.map(([system]) => [system, installTable().get(`${system} | portable archive`)]);
    expect(rows).toEqual(systems.map(([system]) => [system, rowWith(node, cells.get(`${system}`), "–")]));
  });

  test("is not made of a package with Node that has another content", async ({ skip }) => {
    skip(unavailable !== "", unavailable);
    const windows = platforms.find(({ name }) => name === "windows-x64")!;
    expect(() => getNode({ ...windows, integrity: "sha512-of-another" }, temporaryFolder())).toThrow(
      `${windows.node} is not the package of scripts/portable/platforms.js: its integrity is ${windows.integrity}`,
    );
  });
});
