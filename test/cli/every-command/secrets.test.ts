import { type Dirent, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, vi } from "vitest";
import type { ListedCommand, ListedFlag } from "../../../src/cli/completion/command-list.ts";
import type { Context } from "../../../src/cli/context/context.ts";
import { Secrets } from "../../../src/cli/output/secrets.ts";
import { FakeOutput } from "../../support/fake-output.ts";
import { longTest } from "../../support/long-test.ts";
import { flagWords, lineOf, runsAnother } from "./command-lines.ts";
import { canary, type Finished, type SeededWorld, seededWorld } from "./seeded-world.ts";
import type { Passing } from "./service-in-front.ts";
import { walkedCommands } from "./walked-commands.ts";

/** The kinds of secrets. */
type Secret = "key" | "webhook secret" | "own webhook secret" | "signed URL";

/**
 * The places where the interface puts a secret, by command: a stream, a file, or `child.env`, the environment of a program
 * that the command runs. The last part is the clause of interface.md.
 */
const allowed: readonly (readonly [commands: RegExp, Secret, place: string, clause: string])[] = [
  [
    /^(?:imports (?:get|watch)|tasks (?:list|get|watch|save)|images get|exports (?:get|watch)|models list)$/,
    "signed URL",
    "stdout",
    "Commands: stdout is data; field names and values are the service's own",
  ],
  [/^export$/, "signed URL", "stdout", "export: live rows stream to stdout or FILE"],
  [/^export$/, "signed URL", "out.file", "export: live rows stream to stdout or FILE"],
  [/^(?:tasks|models) list$/, "signed URL", "out.file", "Commands: --out has what stdout has"],
  [/^webhooks (?:create|rotate)$/, "webhook secret", "stdout", "pitfalls 14: the secret is shown once"],
  [/^webhooks listen$/, "own webhook secret", "child.env", "Where settings come from: CAT_WEBHOOK_SECRET"],
  [
    /^webhooks listen$/,
    "own webhook secret",
    "stderr",
    "webhooks: listen [--print-secret]; stdout belongs to the command",
  ],
  [
    /^api$/,
    "signed URL",
    "stdout",
    "Commands: api, whose data is the response; the error on stderr has none",
  ],
  [/^webhooks listen$/, "key", "child.env", "Where settings come from: CAT_API_KEY, as the user set it"],
  [
    /^login$/,
    "key",
    ".home/keys/default.json",
    "Commands: login; a 0600 file only when asked for by name (issue 16)",
  ],
];

/** The places of one command with a secret. */
function placesOf({ stdout, stderr, folder }: Finished, known: SeededWorld["front"]["secrets"]) {
  const secrets: (readonly [Secret, string])[] = [
    ["key", canary.key.slice(8, -4)],
    ["own webhook secret", canary.signing.slice(8)],
    ["signed URL", canary.signature],
    ...[...known]
      .filter((text) => text !== canary.signing && text !== canary.signature)
      .map((text): readonly [Secret, string] =>
        text.startsWith("whsec_") ? ["webhook secret", text] : ["signed URL", text],
      ),
  ];
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }) as Dirent[];
  const texts: (readonly [place: string, text: string])[] = [
    ["stdout", stdout],
    ["stderr", stderr],
    ...files
      .filter((file) => file.isFile())
      .map((file) => {
        const path = join(file.parentPath, file.name);
        return [path.slice(folder.length + 1), readFileSync(path, "latin1")] as const;
      }),
  ];
  return texts.flatMap(([place, text]) =>
    [...new Set(secrets.filter(([, secret]) => text.includes(secret)).map(([kind]) => kind))].map((kind) => ({
      kind,
      place,
    })),
  );
}

/** A text of the service, of a storage server or of a bug that repeats secrets. */
const leak = `the key ${canary.key} is wrong, ${canary.signing} too: https://s.example.com/a?expires=1&signature=${canary.signature}`;

const denied = (passing: Passing): void => {
  if (!passing.path.startsWith("/v1/")) return;
  passing.status = 403;
  passing.headers["content-type"] = "application/json";
  passing.json = { error: { type: "forbidden", code: "insufficient_scope", message: leak, param: leak } };
};

/** An internal error when the command first prints data, or first reads the clock. */
const crashes: readonly Partial<Context>[] = [
  { stdout: Object.assign(new FakeOutput(), { write: async () => Promise.reject(new TypeError(leak)) }) },
  { clock: { now: () => crash(), sleep: async () => crash(), at: () => crash() } as never },
];
const crash = () => {
  throw new TypeError(leak);
};

longTest(
  "a key, a webhook secret and a signed URL appear nowhere but where the interface puts them, in every command",
  async () => {
    const seeded = await seededWorld();
    const { list, ids, run, front } = seeded;
    const found: string[] = [];
    const used = new Set<unknown>();
    const uncrashed: string[] = [];
    const walked = walkedCommands(list.commands);
    for (const command of walked) {
      const stdin = command.name === "login" ? { stdin: canary.key } : {};
      const look = (how: string, ran: Finished) => {
        for (const { kind, place } of placesOf(ran, front.secrets)) {
          const entry = allowed.find(
            ([name, one, where]) => name.test(command.name) && one === kind && where === place,
          );
          if (entry !== undefined) used.add(entry);
          else found.push(`cat ${command.name}, ${how} (exit ${ran.exit}): ${kind} in ${place}`);
        }
        return ran.exit;
      };
      const line = (...more: string[]) => lineOf(command, ids, [...more, "--yes"]);
      front.count = 0;
      look("success", await run(line("--verbose"), stdin));
      const hasRequests = front.count > 0;
      look("success as JSON", await run(line("--json"), stdin));
      for (const { flag } of command.flags.filter(writes)) {
        look(
          flag,
          await run(
            lineOf(command, ids, [...flagWords(command, flagOf(command, flag), ids), "--yes"]),
            stdin,
          ),
        );
      }
      // Without a request, the service cannot deny one.
      if (hasRequests) {
        front.change = denied;
        look("error", await run(line("--verbose"), stdin));
        look("error as JSON", await run(line("--json"), stdin));
        front.change = null;
      }
      const exits: number[] = [];
      for (const context of crashes)
        exits.push(look("crash", await run(line("--verbose"), { ...stdin, context })));
      if (!exits.includes(1)) uncrashed.push(`${command.name}: ${exits}`);
    }
    expect(found).toEqual([]);
    const isWalked = ([commands]: (typeof allowed)[number]) =>
      list.commands.every((command) => !commands.test(command.name) || walked.includes(command));
    expect(allowed.filter((entry) => isWalked(entry) && !used.has(entry))).toEqual([]);
    // Each of them does crash.
    expect(uncrashed).toEqual([]);
  },
);

/** A flag whose value is a file or a folder to write, or that shows more. */
const writes = ({ value, flag }: ListedFlag): boolean =>
  (value === "FILE" || value === "DIR" || value === "PLACE" || flag === "--print-secret") && !reads.has(flag);
const reads = new Set(["--input", "--load", "--file", "--products-from", "--images-root", "--ledger"]);
const flagOf = (command: ListedCommand, flag: string): ListedFlag =>
  command.flags.find((one) => one.flag === flag)!;

longTest("a program that a command runs does not get a key of the keychain", async () => {
  const { list, ids, run, front } = await seededWorld();
  const env = { CAT_API_KEY: undefined };
  const login = list.commands.find(({ name }) => name === "login")!;
  const signedIn = await run(lineOf(login, ids), { stdin: canary.key, env });
  expect(signedIn).toMatchObject({ exit: 0 });
  const home = join(signedIn.folder, ".home");
  for (const command of list.commands.filter(runsAnother)) {
    const ran = await run(lineOf(command, ids), { env: { ...env, CAT_HOME: home } });
    expect([
      command.name,
      ran.exit,
      placesOf(ran, front.secrets).filter(({ kind }) => kind === "key"),
    ]).toEqual([command.name, 0, []]);
    expect(readFileSync(join(ran.folder, "child.env"), "utf8")).toContain("CAT_HOME=");
  }
});

longTest("the walk finds a secret that is not masked", async () => {
  const { list, ids, run, front } = await seededWorld();
  // Errors mask what looks like an API key by themselves, so the walk looks for the other secret.
  const mask = vi.spyOn(Secrets.prototype as { mask: unknown }, "mask", "get");
  mask.mockReturnValue((text: string) => text);
  front.change = denied;
  const ran = await run(lineOf(list.commands.find(({ name }) => name === "models list")!, ids));
  mask.mockRestore();
  expect(placesOf(ran, front.secrets)).toContainEqual({ kind: "own webhook secret", place: "stderr" });
});
