import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { childEnvironment } from "../../../src/cli/context/child-environment.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { until } from "../../support/until.ts";
import { createWorld } from "../../support/world.ts";

/** Secrets of this program, and of others. */
const secrets = {
  CAT_API_KEY: "ak_canary",
  CAT_WEBHOOK_SECRET: "whsec_canary",
  CAT_NOTIFY: "https://hc.example.com/canary/",
  AWS_ACCESS_KEY_ID: "canary",
  AWS_SECRET_ACCESS_KEY: "canary",
  AWS_SESSION_TOKEN: "canary",
  GITHUB_TOKEN: "canary",
  NPM_TOKEN: "canary",
  npm_config__authToken: "canary",
  HTTPS_PROXY: "http://me:canary@proxy.example.com",
  NODE_OPTIONS: "--require=/canary.js",
  DATABASE_URL: "postgres://me:canary@db/shop",
};
const session = {
  PATH: "/bin",
  HOME: "/home/me",
  DISPLAY: ":0",
  XDG_RUNTIME_DIR: "/run/user/1",
  LC_ALL: "C",
};

describe("the environment of a child", () => {
  test("has nothing but the session for a program of the system", () => {
    expect(childEnvironment({ ...secrets, ...session }, "session")).toEqual(session);
    expect(
      childEnvironment({ Path: "C:\\", SystemRoot: "C:\\Windows", cat_api_key: "a" }, "session"),
    ).toEqual({
      Path: "C:\\",
      SystemRoot: "C:\\Windows",
    });
  });

  test("has all but the secrets of this program for a command of the user, in any case", () => {
    const { CAT_API_KEY, CAT_WEBHOOK_SECRET, CAT_NOTIFY, ...others } = secrets;
    expect(childEnvironment({ ...secrets, ...session }, "command")).toEqual({ ...others, ...session });
    const given = { CAT_API_KEY: "ak_mock" };
    expect(childEnvironment({ CAT_API_KEY, Cat_Api_Key: "b", CAT_WEBHOOK_SECRET }, "command", given)).toEqual(
      given,
    );
  });

  test("never has a name that this program does not know for a program of the system", () => {
    const names = fc.oneof(
      fc
        .string({ unit: fc.constantFrom(..."ABCKEY_SRT"), minLength: 1, maxLength: 12 })
        .map((rest) => `MY_${rest}`),
      fc
        .constantFrom("PATH", "LC_TIME", "HOME")
        .chain((name) =>
          fc.constantFrom(
            `${name === "LC_TIME" ? "LCTIME" : name}2`,
            `X${name}`,
            `${name}\n`,
            `A\n${name}`,
            `${name}=`,
            `${name} `,
          ),
        ),
    );
    fc.assert(
      fc.property(names, (name) => {
        expect(childEnvironment({ [name]: "canary" }, "session")).toEqual({});
      }),
    );
  });
});

const root = fileURLToPath(new URL("../../../", import.meta.url));
const sources = ["src", "bin"].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .map((name) => `${folder}/${name}`)
    .filter((name) => /\.[cm]?[jt]sx?$/.test(name)),
);

/** Ways to start a program, or code with an environment of its own. */
const starts =
  /\b(?:child_process|cluster|worker_threads|execve|process\.binding)\b|\b(?:spawn|spawnSync|execFile|execFileSync|execSync|fork)\(|\bnew Worker\(/;

test("each program that this one starts gets an environment without secrets", () => {
  const texts = new Map(sources.map((name) => [name, readFileSync(join(root, name), "utf8")]));
  const starting = sources.filter((name) => starts.test(texts.get(name)!)).sort();
  expect(starting).toEqual([
    "src/cli/commands/serve/run-another.ts",
    "src/cli/commands/serve/run.ts",
    "src/cli/context/os-keychain.ts",
    "src/cli/context/terminals.ts",
    // The system's cat stands for the program that the caller meant, and starts no other: it gets all.
    "src/cli/run-system-cat.ts",
  ]);
  for (const name of starting.slice(0, 4)) {
    const text = texts.get(name)!;
    expect([name, text.match(/\b(?:spawn|execFile)\(/g)!.length]).toEqual([name, 1]);
    expect(text).toMatch(/\benv: childEnvironment\(/);
  }
});

describe.skipIf(process.platform === "win32")("a program that a command starts", () => {
  /** A script that prints its environment to a file in the folder. */
  function script(name: string): { folder: string; seen(): string | null } {
    const folder = temporaryFolder();
    const file = join(folder, "seen");
    const text = `#!/bin/sh\n/usr/bin/env > "${folder}/new"\n/bin/mv "${folder}/new" "${file}"\n`;
    writeFileSync(join(folder, name), text, { mode: 0o755 });
    return { folder, seen: () => (existsSync(file) ? readFileSync(file, "utf8") : null) };
  }

  test.skipIf(process.platform !== "linux")("as a browser has no key and no secret", async () => {
    const world = await createWorld();
    const { folder, seen } = script("xdg-open");
    const env = { ...secrets, PATH: folder, DISPLAY: ":7" };
    const running = world.cat("serve --mock --port 0 --json --open", { env });
    await until(() => seen() !== null);
    running.interrupt();
    await running;
    expect(seen()).toContain("DISPLAY=:7\n");
    expect(seen()).not.toContain("canary");
    expect(seen()).not.toContain("CAT_");
  });

  test("next to the mock has its key, and no real secret", async () => {
    const world = await createWorld();
    const { folder, seen } = script("run");
    const ran = await world.cat(["serve", "--mock", "--", join(folder, "run")], { env: secrets });
    expect(ran.exit).toBe(0);
    expect(seen()).toContain("CAT_API_KEY=ak_mock\n");
    expect(seen()).toMatch(/^CAT_BASE_URL=http:\/\/127\.0\.0\.1:\d+$/m);
    expect(seen()).not.toMatch(/^CAT_WEBHOOK_SECRET|ak_canary|whsec_canary/m);
    // Nor does it report its runs: the profile could name a receiver.
    expect(seen()).toContain("CAT_NOTIFY=none\n");
    // What else the user has set is for the command.
    expect(seen()).toContain("GITHUB_TOKEN=canary\n");
  });

  test("next to a listener has the key of its service, and the secret of its webhook", async () => {
    const world = await createWorld();
    const { folder, seen } = script("run");
    const listen = ["webhooks", "listen", "--port", "0", "--", join(folder, "run")];
    expect((await world.cat(listen)).exit).toBe(0);
    expect(seen()).toContain(`CAT_API_KEY=ak_mock\n`);
    expect(seen()).toMatch(/^CAT_WEBHOOK_SECRET=whsec_[0-9a-f]{64}$/m);
    const env = {
      CAT_BASE_URL: "https://imaging.example.com",
      CAT_API_KEY: "ak_canary",
      CAT_NOTIFY: "canary",
    };
    expect((await world.cat([...listen.slice(0, 2), "--mock", ...listen.slice(2)], { env })).exit).toBe(0);
    expect(seen()).toContain("CAT_API_KEY=ak_mock\n");
    expect(seen()).toMatch(/^CAT_BASE_URL=http:\/\/127\.0\.0\.1:\d+$/m);
    expect(seen()).not.toContain("canary");
  });
});
