import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { longTest } from "../../support/long-test.ts";
import { hasFlag, lineOf } from "./command-lines.ts";
import { canary, type Finished, seededWorld } from "./seeded-world.ts";
import type { Passing } from "./service-in-front.ts";
import { walkedCommands } from "./walked-commands.ts";

/** A mark behind each control, so that the controls of the program itself are not mistaken for those of a text. */
const mark = "PWN";
const controls = [
  "\x1b]0;",
  "\x1b[31m",
  "\x9b",
  "\x1b",
  "\n",
  "\r",
  "\x07",
  "\x08",
  "\u202e",
  "\u2066",
  "\u200f",
  "\u2028",
];
const bad = controls.map((control) => control + mark).join("");
/** A control that reached an output unchanged. */
const rawControl = (kept: readonly string[]): RegExp => {
  const others = controls.filter((control) => !kept.includes(control));
  return new RegExp(`(?:${others.map((control) => control.replace("[", "\\[")).join("|")})${mark}`);
};
const raw = rawControl([]);
/** Line ends are kept in CSV cells, which are quoted. */
const rawInCsv = rawControl(["\n", "\r"]);

/** The text that takes the place of a text: with controls, and with the API key of the request. */
const hostile = (text: string, key: string | null): string => `${text}${bad}${key ?? ""}`;

/** Values that the program relies on; with another value it would not come as far as the other texts. */
const reliedOn =
  /^(?:id|\w+_id|status|format|url|\w*url|mime_type|next_cursor|reference|signing_secret|events|role|\w+_at)$/;

/** The JSON of a response with hostile texts, and with a field of a hostile name in every object. */
function withHostileTexts(
  json: unknown,
  key: string | null,
  keeps: (name: string) => boolean,
  name = "",
): unknown {
  if (typeof json === "string") return keeps(name) ? json : hostile(json, key);
  if (Array.isArray(json)) return json.map((one) => withHostileTexts(one, key, keeps, name));
  if (typeof json !== "object" || json === null) return json;
  const fields = Object.entries(json).map(([field, value]) => [
    field,
    withHostileTexts(value, key, keeps, field),
  ]);
  return Object.fromEntries([...fields, [`more${bad}`, hostile("value", key)]]);
}

/** Headers cannot have other controls than these. */
const header = (key: string | null): string => `req_\x9b${mark}\t${key ?? ""}`;

const changes: Readonly<Record<string, (passing: Passing) => void>> = {
  "texts of responses": (passing) => {
    passing.headers["x-request-id"] = header(passing.key);
    passing.json = withHostileTexts(passing.json, passing.key, (name) => reliedOn.test(name));
  },
  "all values of responses": (passing) => {
    passing.json = withHostileTexts(passing.json, passing.key, (name) => name === "next_cursor");
  },
  "failed jobs": (passing) => {
    const error = { code: hostile("code", passing.key), message: hostile("message", passing.key) };
    passing.json = JSON.parse(
      JSON.stringify(passing.json ?? null, (_, value) =>
        value !== null && typeof value === "object" && ("failure_reason" in value || "error" in value)
          ? { ...value, status: "failed", error, failure_reason: error, output_image: null, url: null }
          : value,
      ),
    );
    passing.json ??= undefined;
  },
  errors: (passing) => refuse(passing, {}),
  "lists of problems": (passing) => {
    if (passing.method !== "GET")
      refuse(passing, { errors: [{ ...problem(passing.key), line: 1, input_index: 0 }] });
  },
};

const problem = (key: string | null) =>
  Object.fromEntries(
    ["type", "code", "message", "param", "request_id"].map((name) => [name, hostile(name, key)]),
  );

function refuse(passing: Passing, more: object): void {
  if (!passing.path.startsWith("/v1/")) return;
  passing.status = 422;
  passing.headers["content-type"] = "application/json";
  passing.headers["x-request-id"] = header(passing.key);
  passing.json = { error: problem(passing.key), ...more };
}

/** Raw controls in an output of a command, or in a log that it wrote; those of data files are the service's own. */
function rawTexts({ stdout, stderr, folder }: Finished, isCsv: boolean): string[] {
  const logs = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
    /events\.ndjson$/.test(name),
  );
  const texts = {
    stdout,
    stderr,
    ...Object.fromEntries(logs.map((name) => [name, readFileSync(join(folder, name), "utf8")])),
  };
  return Object.entries(texts).flatMap(([name, text]) => {
    const found = (isCsv && name === "stdout" ? rawInCsv : raw).exec(text);
    const echoed = name.startsWith("std") && text.includes(canary.key) ? ["the key"] : [];
    return [
      ...(found === null
        ? []
        : [JSON.stringify(text.slice(Math.max(0, found.index - 60), found.index + 40))]),
      ...echoed,
    ].map((one) => `${name}: ${one}`);
  });
}

/** The flags of each run, by change: one for each way of printing. */
const runs: Readonly<Record<keyof typeof changes, readonly (readonly string[])[]>> = {
  "texts of responses": [["--verbose"], ["at a prompt"], ["--format", "csv"]],
  "all values of responses": [["on a terminal"]],
  "failed jobs": [["--verbose"]],
  errors: [["--verbose"], ["--json"]],
  "lists of problems": [["--verbose"]],
};

/** The responses that some changes need. */
const needed: Readonly<Record<string, (passing: Passing) => boolean>> = {
  "failed jobs": ({ json }) => /"(?:failure_reason|error)":/.test(JSON.stringify(json ?? null)),
  "lists of problems": ({ method }) => method !== "GET",
};

longTest(
  "controls and an echoed key in any response are neutral in the output and the logs of every command",
  async () => {
    // Text is not wrapped: a line end before a word would look like one of the text.
    const { list, ids, run, front } = await seededWorld({ columns: 1000 });
    const found: unknown[] = [];
    const arrived = new Map<string, number>();
    for (const command of walkedCommands(list.commands)) {
      const limited = hasFlag(command, "--timeout") ? ["--timeout", "1m"] : [];
      const stdin = command.name === "login" ? { stdin: canary.key } : {};
      const seen: Passing[] = [];
      for (const [change, flags] of Object.entries(runs).flatMap(([one, all]) =>
        all.map((more) => [one, more] as const),
      )) {
        const isPrompt = flags[0] === "at a prompt";
        const tty = isPrompt || flags[0] === "on a terminal";
        if (flags[0] === "--format" && !(hasFlag(command, "--format") && hasFlag(command, "--all"))) continue;
        // Where a change has nothing to change, the command shows nothing new.
        if (change !== "texts of responses" && !seen.some(needed[change] ?? (() => true))) continue;
        front.change = (passing) => {
          seen.push({ ...passing });
          changes[change]!(passing);
        };
        const line = lineOf(command, ids, [
          ...(tty ? [] : flags),
          ...limited,
          ...(isPrompt ? [] : ["--yes"]),
        ]);
        const ran = await run(line, {
          tty: tty && { stdin: isPrompt, stdout: true, stderr: true },
          ...stdin,
        });
        front.change = null;
        if (ran.stdout.includes(mark) || ran.stderr.includes(mark))
          arrived.set(change, (arrived.get(change) ?? 0) + 1);
        const raws = rawTexts(ran, flags.includes("csv"));
        if (raws.length > 0 || ran.exit === 1)
          found.push([change, line.join(" "), ran.exit, raws, ran.exit === 1 && ran.stderr]);
      }
    }
    expect(found).toEqual([]);
    // The texts do arrive at the outputs.
    for (const change of Object.keys(changes))
      expect([change, arrived.get(change) ?? 0]).toEqual([change, expect.toSatisfy((count) => count > 0)]);
  },
);
