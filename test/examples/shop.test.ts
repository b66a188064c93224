import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { type Installed, installPackage } from "../package/installed.ts";
import { freePort } from "../support/free-port.ts";
import { isLong } from "../support/repetitions.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const shop = join(root, "examples/shop");
const scenarios = 21;

// In `npm run test:long` only.
describe.runIf(isLong)("examples/shop with the packed package", () => {
  let installed: Installed;
  beforeAll(async () => {
    installed = await installPackage();
    const { folder } = installed;
    for (const path of ["src", "test", "package.json", "tsconfig.json", "vitest.config.mts"])
      cpSync(join(shop, path), join(folder, path), { recursive: true });
    const link = (name: string, target: string) => {
      mkdirSync(dirname(join(folder, "node_modules", name)), { recursive: true });
      symlinkSync(target, join(folder, "node_modules", name));
    };
    // What npm would install: from this project, so that no registry is needed.
    for (const name of ["fastify", "jest", "@jest", "vitest", ".bin/jest", ".bin/vitest"])
      link(name, join(root, "node_modules", name));
    link(".bin/tsc", join(root, "node_modules/typescript-7/bin/tsc"));
    link(".bin/catalogue", join(folder, "node_modules", manifest.name, manifest.bin.catalogue));
  });
  afterAll(() => rmSync(installed.folder, { recursive: true, force: true }));

  const run = async (command: string, env = {}) => {
    const { exitCode, all } = await execa("sh", ["-c", command], {
      ...{ cwd: installed.folder, reject: false, all: true, extendEnv: false },
      env: {
        PATH: `${join(installed.folder, "node_modules/.bin")}:${process.env.PATH}`,
        ...{ NO_COLOR: "1", no_proxy: "*", ...env },
      },
    });
    return { exitCode, output: all };
  };

  test("its types fit, and its scenarios pass with node:test, vitest and jest", async () => {
    const { exitCode, output } = await run("npm test");
    expect(exitCode, output).toBe(0);
    for (const passed of [
      `# pass ${scenarios}\n`,
      `Tests  ${scenarios} passed`,
      `Tests:       ${scenarios} passed`,
    ])
      expect(output).toContain(passed);
  });

  test("its README runs, twice: the second run finds what the first has left", async () => {
    const readme = readFileSync(join(shop, "README.md"), "utf8");
    const [, command] = /^```sh\nnpm install\n(.*)\n```$/m.exec(readme)!;
    const port = String(await freePort());
    for (const sent of [2, 0]) {
      const { exitCode, output } = await run(command!, { PORT: port });
      expect(exitCode, output).toBe(0);
      expect(output).toContain(`${sent} to send\nCOAT-1 imported\nHAT-2 imported`);
    }
    const { output } = await run(
      "catalogue serve --mock --load mock.json -- sh -c 'curl -s $CAT_BASE_URL/_mock/state'",
    );
    const { organizations } = JSON.parse(output!);
    expect(Object.keys(organizations.main.products)).toHaveLength(2);
    expect(Object.keys(organizations.main.webhooks)).toHaveLength(1);
  });

  test.for([
    ["repeated", "if (event !== undefined && !this.isFirst(event)) return;", ""],
    [
      "another order",
      'WHERE reference = ? AND sent_in = ?",\n      );\n      const identify',
      'WHERE reference = ? OR sent_in = ?",\n      );\n      const identify',
    ],
    ["missed", ": this.settle(one.id)", ": Promise.resolve()"],
    [
      "failed gets the event again",
      "reply.code(error instanceof SignatureError ? 400 : 500)",
      "reply.code(200)",
      "server",
    ],
    ["without a response", "idempotencyKey: key", "idempotencyKey: randomUUID()"],
    ["does not stop the next one", "await done.catch((error) => failures.push(error))", "await done"],
    ["without a response", "[400, 402].includes(error.status)", "error.status < 500"],
    [
      "rejected import",
      "this.reject(key, body, error);\n      if (error.status !== 400)",
      "if (error.status !== 400)",
    ],
    ["did not change", "WHERE name <> excluded.name OR photo <> excluded.photo", ""],
    ["keeps one photo", "remember.run(reference, photo, key);", ""],
    [
      "during an import",
      "AND attached = 0)`,\n      )\n      .all()",
      "AND attached = 2)`,\n      )\n      .all()",
    ],
    ["comes back", "AND photo = p.photo) LIMIT", ") LIMIT"],
    ["imported anew", "forget.run(reference, product_id);", ""],
    ["spaces around it", "reference.trim()", "reference"],
    ["tried again", "if (error instanceof ApiError && error.status === 400)", "if (false)", "webhook"],
    ["lost in a crash", "idempotencyKey: key", "idempotencyKey: randomUUID()", "webhook"],
    [
      "sent again",
      "DELETE FROM photos WHERE sent_in = ? AND attached = 0",
      "DELETE FROM photos WHERE sent_in = ''",
    ],
  ])("a shop that is wrong fails its scenario: %s", async ([name, right, wrong, file = "shop"]) => {
    const path = join(installed.folder, `src/${file}.ts`);
    const text = readFileSync(path, "utf8");
    expect(text).toContain(right);
    writeFileSync(path, text.replace(right!, wrong!));
    const { output } = await run("tsc; node --test build/test/node.test.js");
    writeFileSync(path, text);
    expect(output).toMatch(new RegExp(`^not ok \\d+ - .*${name}`, "m"));
  });
});
