import { createHmac } from "node:crypto";
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import { execa } from "execa";
import { afterAll, beforeAll, expect } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { startMock } from "../../src/mock/index.ts";
import { longTest } from "../support/long-test.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { hasFile, type Installed, installPackage, readmeLines, runModule } from "./installed.ts";

/** The oldest version of TypeScript that docs/client.md promises, that of the tests, and the newest. */
const compilers = ["typescript-5.4", "typescript", "typescript-7"];

const root = fileURLToPath(new URL("../../", import.meta.url));

let installed: Installed;
beforeAll(async () => {
  installed = await installPackage();
});
afterAll(() => rmSync(installed.folder, { recursive: true, force: true }));

/** Writes the README's example of `what` unchanged to a file of the project. */
function written(what: string): string {
  const path = join(installed.folder, `${what}.js`);
  writeFileSync(path, readmeLines(what));
  return path;
}

longTest("each example of the README has five lines", () => {
  for (const what of ["startMock", "createClient", "verifyWebhook"]) {
    expect(readmeLines(what).trimEnd().split("\n")).toHaveLength(5);
  }
});

longTest("startMock: the README's example prints the request", async () => {
  const { stdout, stderr, exitCode } = await runModule(installed.folder, written("startMock"));
  expect({ stdout, stderr, exitCode }).toEqual({
    stdout: "[ 'GET /v1/products 200' ]",
    stderr: "",
    exitCode: 0,
  });
});

longTest("createClient: the README's example prints the references", async () => {
  const mock = await startMock({ demo: 5, seed: 1 });
  const products = Object.values(mock.state().organizations.main.products as { reference: string }[]);
  const env = { CAT_BASE_URL: mock.baseUrl, CAT_API_KEY: mock.apiKey };
  const { stdout, stderr, exitCode } = await runModule(installed.folder, written("createClient"), env);
  await mock.stop();
  expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
  const references = products.map(({ reference }) => reference);
  expect(stdout.split("\n")).toHaveLength(3);
  expect(references).toEqual(expect.arrayContaining(stdout.split("\n")));
});

longTest("verifyWebhook: the README's example accepts signed deliveries only", async () => {
  const { eventOf } = await import(pathToFileURL(written("verifyWebhook")).href);
  const body = '{"id":"evt_1","type":"import.completed","created_at":"2026-01-05T09:00:00Z","data":{}}';
  const t = Math.floor(Date.now() / 1000);
  // Signed by hand, so that signing and checking do not share a mistake.
  const v1 = createHmac("sha256", "whsec_abc").update(`${t}.${body}`).digest("hex");
  const delivery = (text: string) =>
    new Request("https://shop.example.com/hook", {
      method: "POST",
      headers: { "Service-Signature": `t=${t},v1=${v1}` },
      body: text,
    });
  expect(await eventOf(delivery(body), "whsec_abc")).toMatchObject({ id: "evt_1", type: "import.completed" });
  await expect(eventOf(delivery(body.replace("completed", "failed")), "whsec_abc")).rejects.toMatchObject({
    name: "SignatureError",
    reason: "mismatch",
  });
  await expect(eventOf(delivery(body), "whsec_other")).rejects.toMatchObject({ reason: "mismatch" });
});

longTest.each(compilers)(
  "the examples of the README and of the client pass the type check of %s against the packed declarations; a wrong one fails",
  async (version) => {
    const compiler = join(root, "node_modules", version, "bin/tsc");
    for (const what of ["startMock", "createClient", "verifyWebhook"]) written(what);
    const wrong = join(installed.folder, "wrong.js");
    writeFileSync(wrong, `${readmeLines("createClient").replace("limit: 3", "limit: true")}\n`);
    const page = readFileSync(join(root, "docs/client.md"), "utf8");
    const ofPage = [...page.matchAll(/^```js (\w+)\.mjs\n(.*?)^```$/gms)].map(([, name, text]) => {
      // Examples with types in comments are JavaScript only.
      const file = `${name}.${text!.includes("@param") ? "mjs" : "ts"}`;
      writeFileSync(join(installed.folder, file), text!);
      return file;
    });
    expect(ofPage).toEqual(["models.ts", "catalogue.ts", "traced.ts", "worker.mjs"]);
    const compilerOptions = {
      ...{ strict: true, checkJs: true, noEmit: true, module: "nodenext", target: "es2022", types: ["node"] },
      // Checks the declarations too, except those of the language.
      ...{ skipLibCheck: false, skipDefaultLibCheck: true },
    };
    const files = ["startMock.js", "createClient.js", "verifyWebhook.js", "wrong.js", ...ofPage];
    const config = join(installed.folder, "tsconfig.json");
    writeFileSync(config, JSON.stringify({ compilerOptions, files }));
    const { stdout } = await execa(process.execPath, [compiler, "-p", config], {
      reject: false,
    });
    const errors = stdout.split("\n").filter((line) => /error TS\d+/.test(line));
    // One compilation for all: the only error is in the wrong file.
    expect(errors).toEqual([
      expect.stringMatching(
        /wrong\.js\(4,\d+\): error TS2322: Type 'boolean' is not assignable to type 'number'/,
      ),
    ]);
  },
);

longTest("the installed programs print their version and run a command", async () => {
  for (const program of Object.values(manifest.bin)) {
    const path = join(installed.folder, "node_modules", manifest.name, program);
    expect((await execa(process.execPath, [path, "--version"])).stdout).toBe(`catalogue ${manifest.version}`);
  }
  const cat = join(installed.folder, "node_modules", manifest.name, manifest.bin.cat);
  const listed = await execa(
    process.execPath,
    [cat, "products", "list", "--mock", "--json", "--limit", "2"],
    {
      extendEnv: false,
      env: { PATH: process.env.PATH ?? "" },
    },
  );
  expect(listed.stdout.split("\n")).toHaveLength(2);
});

longTest("without its optional packages, login and doctor name what is missing", async () => {
  const folder = temporaryFolder();
  const home = join("node_modules", manifest.name);
  cpSync(join(installed.folder, home), join(folder, home), { recursive: true });
  const mock = await startMock({ demo: 1 });
  const run = (args: string[], env = {}) =>
    execa(process.execPath, [join(folder, home, "bin/catalogue.js"), ...args], {
      ...{ input: mock.apiKey, reject: false, env: { CAT_HOME: join(folder, "home"), ...env } },
    });
  const login = await run(["login", "--profile", "live", "--base-url", mock.baseUrl, "--with-key"]);
  const inFile = await run(["login", "--base-url", mock.baseUrl, "--with-key", "--store", "file"]);
  const doctor = await run(["doctor"], { CAT_BASE_URL: mock.baseUrl, CAT_API_KEY: mock.apiKey });
  await mock.stop();
  expect(login.stderr).toMatch(
    /\nerror: cannot use the keychain: the package @napi-rs\/keyring is not installed\nInstall .*--store file$/,
  );
  expect(login.exitCode).toBe(4);
  expect(inFile.stderr).toBe(
    `state in ${join(folder, "home")}: new, empty\n` +
      "error: cannot store settings and progress: the libsql library does not load\n" +
      "Install this program again with its optional packages. libsql supports the common platforms only.",
  );
  expect(inFile.exitCode).toBe(2);
  expect(doctor.stdout).toContain("the package @napi-rs/keyring is not installed; no key in it is in use\n");
  expect(doctor.stdout).toContain("cannot store settings and progress: the libsql library does not load\n");
  expect(doctor.exitCode).toBe(2);
});

longTest("no page tells users to get a package by a name without a scope, which is not this one", () => {
  const pages = [
    "README.md",
    "CONTRIBUTING.md",
    ...readdirSync(join(root, "docs"), { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => `docs/${name}`),
  ];
  const bare = /\b(?:npx|npm (?:i|install|add|exec)|(?:pnpm|yarn) add)(?: -\S+)* (?:catalogue|cat-\S+)\b/;
  expect(manifest.name).toMatch(/^@[\w-]+\/catalogue$/);
  expect(pages.filter((page) => bare.test(readFileSync(join(root, page), "utf8")))).toEqual([]);
  expect("npx --yes catalogue import").toMatch(bare);
});

longTest("both builds of the package serve the page of the mock, its data and its stream", async () => {
  const asking = `startMock({ demo: 1 }).then(async (mock) => {
    const got = [];
    for (const path of ["", "/icon.svg", "/page/products", "/openapi.json"]) {
      const response = await fetch(mock.baseUrl + "/_mock" + path);
      const text = await response.text();
      got.push([response.status, response.headers.get("content-type"), /<title>Mock service|<svg|"data":|"openapi":/.exec(text)[0]]);
    }
    const stream = await fetch(mock.baseUrl + "/_mock/events?view=control");
    const { value } = await stream.body.getReader().read();
    got.push([stream.status, stream.headers.get("content-type"), Buffer.from(value).toString().split("\\n")[0]]);
    console.log(JSON.stringify(got));
    await mock.stop();
  });`;
  const json = "application/json; charset=utf-8";
  const builds = {
    "page.cjs": `const { startMock } = require("${manifest.name}/mock");`,
    "page.js": `import { startMock } from "${manifest.name}/mock";`,
  };
  const ran = Object.entries(builds).map(async ([name, loading]) => {
    const path = join(installed.folder, name);
    writeFileSync(path, `${loading}\n${asking}\n`);
    const { stdout, stderr } = await runModule(installed.folder, path);
    return { name, stderr, got: stderr === "" && JSON.parse(stdout) };
  });
  const got = [
    [200, "text/html; charset=utf-8", "<title>Mock service"],
    [200, "image/svg+xml", "<svg"],
    [200, json, '"data":'],
    [200, json, '"openapi":'],
    [200, "text/event-stream; charset=utf-8", "retry: 1000"],
  ];
  expect(await Promise.all(ran)).toEqual(Object.keys(builds).map((name) => ({ name, stderr: "", got })));
});

longTest.each(["cjs", "esm"] as const)("runs in a bundle in the format %s", async (format) => {
  const outfile = join(installed.folder, `bundled.${format === "cjs" ? "cjs" : "mjs"}`);
  const call = `createClient({ baseUrl: "https://api.example.com", apiKey: "ak_1" }).products.get({ product_id: "" })`;
  await build({
    stdin: {
      contents: `import { createClient } from ${JSON.stringify(manifest.name)};
        ${call}.catch((error) => console.log(error.message));`,
      resolveDir: installed.folder,
    },
    ...{ bundle: true, platform: "node", format, outfile, logLevel: "silent" },
  });
  const { stdout } = await execa(process.execPath, [outfile]);
  expect(stdout).toBe('product_id "" is not a valid ID');
});

longTest("the build for the edge sends with the global fetch of its moment, without sockets", async () => {
  const mock = await startMock({ demo: 1 });
  const path = join(installed.folder, "edge.js");
  writeFileSync(
    path,
    `import { createClient } from ${JSON.stringify(manifest.name)};
    const client = createClient({ baseUrl: "${mock.baseUrl}", apiKey: "${mock.apiKey}" });
    const send = globalThis.fetch;
    globalThis.fetch = (url, request) => (console.log(new URL(url).pathname), send(url, request));
    console.log((await client.products.list()).data.length);`,
  );
  const { stdout } = await execa(process.execPath, ["--conditions=workerd", path]);
  await mock.stop();
  expect(stdout).toBe("/v1/products\n1");
  const code = readFileSync(join(installed.folder, "node_modules", manifest.name, "dist/edge.js"), "utf8");
  const modules = new Set(
    [...code.matchAll(/\b(?:from |import\(|require\()"(node:[^"]+)"/g)].map(([, name]) => name),
  );
  expect([...modules].sort()).toEqual(
    ["buffer", "crypto", "events", "fs", "util/types"].map((name) => `node:${name}`),
  );
});

longTest("the built files import only packages that users install", async () => {
  const dist = fileURLToPath(new URL("../../dist", import.meta.url));
  const programs = ["hand-over", "complete", "main"].map((name) => `program/${name}`);
  const names = [...programs, "index", "edge", "mock", "cjs/index", "cjs/mock"];
  const { metafile } = await build({
    ...{ bundle: true, platform: "node", format: "esm", packages: "external", write: false, metafile: true },
    ...{ entryPoints: names.map((name) => join(dist, `${name}.js`)), outdir: dist, logLevel: "silent" },
  });
  const imports = Object.values(metafile.inputs).flatMap((input) => input.imports);
  const used = new Set(imports.filter(({ external }) => external).map(({ path }) => path));
  // What the parts of the program import themselves (src/cli/program-loader.ts).
  for (const path of Object.keys(metafile.inputs).filter((one) => one !== "<runtime>")) {
    for (const [, name] of readFileSync(path, "utf8").matchAll(/__import\("([^"]+)"\)/g)) used.add(name!);
  }
  const packages = [...used].filter((path) => !isBuiltin(path) && path !== "<runtime>");
  expect(packages.sort()).toEqual(["libsql", "sharp"]);
  const { optionalDependencies } = manifest;
  expect(optionalDependencies).toMatchObject(
    Object.fromEntries(packages.map((name) => [name, expect.any(String)])),
  );
});

longTest("no file of the package has the path of the folder that it was built in", () => {
  const project = fileURLToPath(new URL("../..", import.meta.url));
  const built = installed.files.filter((path) => path.startsWith("dist/"));
  expect(built).toContain("dist/index.js");
  const content = (path: string) =>
    readFileSync(join(installed.folder, "node_modules", manifest.name, path), "utf8");
  expect(built.filter((path) => content(path).includes(project))).toEqual([]);
});

longTest(
  "its manifest is that of the project without what is for the build, which npm would run or warn about",
  () => {
    const packed = readFileSync(
      join(installed.folder, "node_modules", manifest.name, "package.json"),
      "utf8",
    );
    const { scripts: _, devDependencies: __, overrides: ___, allowScripts: ____, ...kept } = manifest;
    expect(JSON.parse(packed)).toEqual({ ...kept, sideEffects: false });
    expect(Object.keys(manifest)).toEqual(
      expect.arrayContaining(["scripts", "devDependencies", "overrides"]),
    );
  },
);

longTest("the package has exactly the files that are needed", () => {
  const known = [
    /^(?:package\.json|README\.md|LICENSE|CHANGELOG\.md|SECURITY\.md)$/,
    /^bin\/(?:cat\.js|catalogue\.js|package\.json)$/,
    /^dist\/program\/(?:(?:hand-over|main|complete)\.js|commands\.json|help\.txt)$/,
    /^dist\/(?:cjs\/)?(?:index|mock|webhooks)\.js(?:\.map)?$/,
    /^dist\/edge\.js(?:\.map)?$/,
    /^dist\/lib\/[\w-]+\.js(?:\.map)?$/,
    /^dist\/(?:cjs|program)\/package\.json$/,
    /^dist\/(?:licenses\.txt|sbom\.cdx\.json)$/,
    /^dist\/program\/parts\/[\w-]+\.js$/,
    /^dist\/(?:cjs\/)?types\/(?:index|clock|errors|json|open-file|text|webhooks)\.d\.ts$/,
    /^dist\/(?:cjs\/)?types\/(?:client|contract|http|mock|mock-page)\/[\w/-]+\.d\.ts$/,
    /^docs\/[\w-]+\.(?:md|py)$/,
    /^docs\/reference\/[\w-]+\.md$/,
    /^man\/cat[\w-]+\.1$/,
    /^skills\/catalogue\/SKILL\.md$/,
    /^fixtures\/[\w-]+\.(?:csv|ndjson)$/,
  ];
  expect(installed.files.filter((path) => !known.some((one) => one.test(path)))).toEqual([]);
  const wanted = [
    ...Object.values(manifest.bin),
    ...[manifest.main, manifest.types, ...Object.values(manifest.typesVersions["*"]).flat()],
    ...JSON.stringify(manifest.exports).match(/(?<=")\.\/[\w./-]+\.\w+(?=")/g)!,
    ...[
      "README.md",
      "LICENSE",
      "CHANGELOG.md",
      "SECURITY.md",
      "docs/threats.md",
      "docs/choices.md",
      "dist/licenses.txt",
      "dist/sbom.cdx.json",
      "docs/fidelity.md",
      "docs/first-calls.py",
      "docs/reference/import.md",
      "man/cat-import.1",
      "skills/catalogue/SKILL.md",
      "fixtures/products.csv",
    ],
  ];
  expect(wanted.filter((path) => !hasFile(installed.folder, path))).toEqual([]);
});
