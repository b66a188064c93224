import { readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect } from "vitest";
import type { Configuration, Stats } from "webpack";
import manifest from "../../package.json" with { type: "json" };
import { longTest } from "../support/long-test.ts";
import { type Installed, installPackage } from "./installed.ts";

/** It loads slowly, so only for these tests. */
const webpack = (): ((
  configuration: Configuration,
  done: (error: Error | null, stats?: Stats) => void,
) => unknown) => createRequire(import.meta.url)("webpack");

let installed: Installed;
beforeAll(async () => {
  installed = await installPackage();
});
afterAll(() => rmSync(installed.folder, { recursive: true, force: true }));

/** A part of the package that a program imports, for a platform. */
interface Import {
  readonly name: string;
  readonly from?: string;
  readonly conditions?: readonly string[];
}

const programOf = ({ name, from = "" }: Import): string =>
  `import { ${name} } from "${manifest.name}${from}"; console.log(${name});`;

/** The bytes of the files, compressed one by one, as a server or a registry sends them. */
const zipped = (texts: readonly Uint8Array[]): number =>
  texts.reduce((sum, text) => sum + gzipSync(text).length, 0);

/** What a program loads at its start: the first file, and those that it imports statically. */
async function withEsbuild(imported: Import): Promise<{ atStart: number; warnings: number }> {
  const { outputFiles, metafile, warnings } = await build({
    stdin: { contents: programOf(imported), resolveDir: installed.folder },
    ...{ bundle: true, minify: true, splitting: true, format: "esm", platform: "node", logLevel: "silent" },
    ...{ write: false, metafile: true, absWorkingDir: installed.folder, outdir: "out" },
    conditions: [...(imported.conditions ?? [])],
  });
  const loaded = new Set(["out/stdin.js"]);
  for (const path of loaded)
    for (const { kind, path: next, external } of metafile.outputs[path]!.imports)
      if (kind === "import-statement" && external !== true) loaded.add(next);
  const files = outputFiles.filter(({ path }) => [...loaded].some((one) => path.endsWith(`/${one}`)));
  return { atStart: zipped(files.map(({ contents }) => contents)), warnings: warnings.length };
}

async function withWebpack(imported: Import): Promise<{ atStart: number; warnings: number }> {
  const path = join(installed.folder, `webpack-${imported.name}-${imported.conditions?.[0] ?? "node"}`);
  const stats = await new Promise<Stats>((resolve, reject) =>
    webpack()(
      {
        ...{ mode: "production", target: "node20", context: installed.folder, output: { path } },
        entry: `data:text/javascript,${encodeURIComponent(programOf(imported))}`,
        resolve: { conditionNames: [...(imported.conditions ?? []), "node", "import"] },
      },
      (error, stats) => (error === null && stats !== undefined ? resolve(stats) : reject(error)),
    ),
  );
  expect(stats.compilation.errors.map(({ message }) => message)).toEqual([]);
  return {
    atStart: zipped([readFileSync(join(path, "main.js"))]),
    warnings: stats.compilation.warnings.length,
  };
}

const bundlers = { esbuild: withEsbuild, webpack: withWebpack };

describe.each(Object.entries(bundlers))("a program that %s bundles loads", (_, bundled) => {
  const kB = 1_000;
  longTest.each<[string, Import, number]>([
    ["ApiError alone", { name: "ApiError" }, 6 * kB],
    ["the check of webhooks without Node", { name: "verifyWebhook", from: "/webhooks" }, 4 * kB],
    ["the client, and undici with its first request", { name: "createClient" }, 60 * kB],
    ["the client at the edge", { name: "createClient", conditions: ["workerd"] }, 60 * kB],
  ])("%s", async (_, imported, most) => {
    const { atStart, warnings } = await bundled(imported);
    expect(atStart).toBeGreaterThan(500);
    expect(atStart).toBeLessThan(most);
    expect(warnings).toBe(0);
  });
});
