import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { execa } from "execa";
import { publint } from "publint";
import { afterAll, beforeAll, expect } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { type Installed, installPackage } from "../package/installed.ts";
import { longTest } from "../support/long-test.ts";

let installed: Installed;
beforeAll(async () => {
  installed = await installPackage();
});
afterAll(() => rmSync(installed.folder, { recursive: true, force: true }));

/** The packed package, with a manifest changed by `change`. */
async function repacked(change: (packed: typeof manifest) => void): Promise<string> {
  const home = join(installed.folder, "node_modules", manifest.name);
  const path = join(home, "package.json");
  const text = readFileSync(path, "utf8");
  const packed = JSON.parse(text);
  change(packed);
  writeFileSync(path, JSON.stringify(packed));
  const tarball = join(installed.folder, "changed.tgz");
  await execa("tar", ["-czf", tarball, "--transform=s,^[.],package,", "."], { cwd: home });
  writeFileSync(path, text);
  return tarball;
}

/** The problems that publint and Are the Types Wrong find in a packed package. */
async function problemsOf(tarball: string) {
  const bytes = new Uint8Array(readFileSync(tarball));
  const { messages } = await publint({ pack: { tarball: bytes.buffer }, strict: true });
  const checked = await checkPackage(createPackageFromTarballData(bytes));
  if (checked.types === false) throw new Error("the package has no types");
  return {
    publint: messages.map(({ code }) => code),
    types: checked.problems.map(({ kind }) => kind),
    checked,
  };
}

longTest(
  "publint and Are the Types Wrong find nothing wrong with the package, for any way to import it",
  async () => {
    const { publint, types, checked } = await problemsOf(installed.tarball);
    expect({ publint, types }).toEqual({ publint: [], types: [] });
    const resolved = Object.values(checked.entrypoints).map(({ subpath, resolutions }) => [
      subpath,
      Object.values(resolutions).filter(({ resolution }) => resolution !== undefined).length,
    ]);
    // Node 10, Node from CommonJS and from ES modules, and bundlers.
    expect(resolved).toEqual([
      [".", 4],
      ["./mock", 4],
      ["./webhooks", 4],
      ["./package.json", 4],
    ]);
  },
);

longTest("they find types of ES modules that are given to CommonJS, and a file that is missing", async () => {
  const wrong = await repacked((packed) => {
    packed.exports["."].require.types = packed.exports["."].import.types;
    packed.exports["./mock"].import.default = "./dist/none.js";
  });
  const { publint, types } = await problemsOf(wrong);
  expect(publint).toContain("FILE_DOES_NOT_EXIST");
  expect(types).toContain("FalseESM");
});

longTest(
  "npm publish --dry-run takes the package as it is, for everyone, with docs and man pages",
  async () => {
    const { stdout, stderr } = await execa(
      "npm",
      ["publish", "--dry-run", "--offline", "--json", installed.tarball],
      {
        cwd: installed.folder,
      },
    );
    const { [manifest.name]: published } = JSON.parse(stdout);
    expect(published).toMatchObject({ id: `${manifest.name}@${manifest.version}`, bundled: [] });
    const paths = published.files.map(({ path }: { path: string }) => path);
    expect(paths).toEqual(expect.arrayContaining([...manifest.man, "docs/guide.md", "docs/install.md"]));
    expect(paths.filter((path: string) => path.startsWith("man/"))).toHaveLength(manifest.man.length);
    expect(stderr).toMatch(/ with tag latest and public access \(dry-run\)$/m);
    // npm says so where it changes a manifest.
    expect(stderr).not.toMatch(/auto-corrected|npm pkg fix/);
  },
);

longTest(
  "npm publish stops outside of a job because of provenance, and the release says what to add",
  async () => {
    // Nothing listens on this port.
    const registry = ["--registry=http://127.0.0.1:9", "--//127.0.0.1:9/:_authToken=x", "--fetch-retries=0"];
    const publish = (...args: string[]) =>
      execa("npm", ["publish", installed.tarball, ...registry, ...args], {
        ...{ cwd: installed.folder, reject: false, extendEnv: false },
        env: { PATH: process.env.PATH ?? "", HOME: installed.folder },
      });
    expect((await publish()).stderr).toContain("provenance generation not supported");
    expect((await publish("--no-provenance")).stderr).toContain("ECONNREFUSED");
    const script = readFileSync(new URL("../../scripts/release.js", import.meta.url), "utf8");
    expect(script).toMatch(/^ {2}npm publish .+ {2}# .* --no-provenance$/m);
  },
);
