import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { createClient } from "../../../src/client/client.ts";
import { type Scope, scopes } from "../../../src/contract/value-sets.ts";
import type { ImportSummary } from "../../../src/flows/import/summary.ts";
import type { ProgressEvent } from "../../../src/flows/progress-event.ts";
import type { InputProblem } from "../../../src/flows/rows/problem.ts";
import type { FaultOrder } from "../../../src/mock/faults/fault-order.ts";
import type { MockOptions, MockState } from "../../../src/mock/index.ts";
import { openState } from "../../../src/state/state.ts";
import { gateway, type Judge, type Verdict } from "../../support/gateway.ts";
import { seededRandom } from "../../support/seeded-random.ts";
import { type CallOptions, createWorld, type Running } from "../../support/world.ts";

/** The flags of a command line by name, e.g. `skipInvalid: true` for --skip-invalid and `wait: false` for --no-wait. */
export type ImportFlags = Readonly<Record<string, string | number | boolean | undefined>>;

/** Who runs the command, and how. */
export interface By {
  /** The API key (default: that of the mock). Every `ak_new_…` is of its organization, every `ak_other_…` of another. */
  readonly key?: string;
  /** Scopes that the key lacks meanwhile. */
  readonly lacks?: readonly Scope[];
  /** The machine by its name: each has its own settings and state. */
  readonly machine?: string;
  /** Whether the file is piped in, so that the command cannot read it again. */
  readonly piped?: boolean;
  /** Judges the requests of the command. */
  readonly judge?: Judge;
}

/** The error as the command prints it; its message ends with the next step. */
export interface PrintedError {
  readonly type: string;
  readonly code: string;
  readonly message: string;
  readonly status?: number;
  readonly exit: number;
}

export interface Imported {
  readonly exit: number;
  /** Null if nothing was imported because of the file, or another error. */
  readonly summary: ImportSummary | null;
  /** The ID of the run; the summary has its number instead. */
  readonly runId: string;
  /** The error that stopped the import; undefined if it came to its end, whatever became of the rows. */
  readonly stopped: PrintedError | undefined;
  readonly problems: readonly InputProblem[];
  readonly events: readonly ProgressEvent[];
}

const asWord = (name: string) => `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

const toArguments = (flags: ImportFlags): string[] =>
  Object.entries(flags).flatMap(([name, value]) => {
    if (name === "wait") return value === false ? ["--no-wait"] : [];
    if (value === undefined || value === false) return [];
    if (value === true) return [asWord(name)];
    return [asWord(name), String(value)];
  });

/** A mock, a folder, and the command that imports its files, on a clock that skips waits. */
export async function importWorld({
  isDirect = false,
  ...options
}: MockOptions & { isDirect?: boolean } = {}) {
  let judge: Judge = () => null;
  const entry = isDirect
    ? null
    : await gateway(
        () => world.mock.baseUrl,
        (request) => judge(request),
      );
  const world = await createWorld({
    mock: { rateLimit: false, ...(entry !== null && { baseUrl: entry.url }), ...options },
  });
  const { clock, mock, folder } = world;
  const baseUrl = entry?.url ?? mock.baseUrl;
  const client = createClient({ baseUrl: mock.baseUrl, apiKey: mock.apiKey, clock, random: () => 0.5 });
  onTestFinished(() => client.close());
  const read = async (name: string) => readFileSync(join(folder, name), "utf8");
  const random = seededRandom(1);
  const homes = new Set([".home"]);
  const runs: string[] = [];
  let running: Running | undefined;
  let failedFile: string | null = null;

  /** A control of the mock (interface, serve --mock, Control). */
  async function control(method: string, path: string, order: unknown) {
    const headers = { "content-type": "application/json" };
    const body = order === undefined ? {} : { body: JSON.stringify(order) };
    const { ok } = await fetch(`${mock.baseUrl}/_mock/${path}`, { method, headers, ...body });
    if (!ok) throw new Error(`no such ${path}`);
  }

  /** Runs a command line; a file that is piped in is its input. */
  async function run(line: readonly string[], by: By, piped?: string) {
    const { key = mock.apiKey, lacks = [], machine = "home" } = by;
    if (/^ak_(new|other)_/.test(key) || lacks.length > 0) {
      const left = scopes.filter((scope) => !(lacks as readonly string[]).includes(scope));
      const organization = key.startsWith("ak_other_") ? "other" : "main";
      await control("PUT", `keys/${key}`, { organization, scopes: lacks.length === 0 ? null : left });
    }
    const outer = judge;
    judge = by.judge ?? (() => null);
    homes.add(`.${machine}`);
    const env = { CAT_BASE_URL: baseUrl, CAT_API_KEY: key, CAT_HOME: join(folder, `.${machine}`) };
    // With the constant one of the world, two runs at the same time would upload photos under one key.
    const context = { random };
    running = world.cat(line, { env, context, ...(piped !== undefined && { stdin: await read(piped) }) });
    try {
      return await running;
    } finally {
      judge = outer;
      if (lacks.length > 0) await control("PUT", `keys/${key}`, { scopes: null });
    }
  }

  const runImport = (file: string, flags: ImportFlags, by: By, more: readonly string[]) => {
    const isPiped = by.piped === true;
    const line = ["import", isPiped ? "-" : file, ...toArguments(flags), ...more];
    return run(line, by, isPiped ? file : undefined);
  };

  return {
    ...{ mock, clock, client, folder, baseUrl, read, run },
    /** Runs any command on the machine `home`. */
    cat: (line: string, call: CallOptions = {}) =>
      world.cat(line, { ...call, env: { CAT_BASE_URL: baseUrl, ...call.env } }),
    /** The requests of commands to a path, as the gateway passed them on. */
    requestsTo: (path: string) => entry?.to(path) ?? [],
    /** Interrupts the command, as Ctrl-C does. */
    interrupt: () => running!.interrupt(),
    /** Injects a fault (interface, serve --mock, Faults); without an order, removes all faults. */
    fault: (order?: FaultOrder) => control(order === undefined ? "DELETE" : "POST", "faults", order),
    /** Restores an earlier state of the service (interface, serve --mock, Control). */
    putBack: (state: MockState) => control("PUT", "state", state),
    /** The writes so far: method, path and status of each. */
    writes: () =>
      mock
        .requests()
        .filter(({ method, path }) => method !== "GET" && path.startsWith("/v1/"))
        .map(({ method, path, status, replayed }) =>
          [method, path.split("?")[0], replayed ? "replayed" : status].join(" "),
        ),
    write: async (name: string, text: string) => void world.write(name, text),
    /** The failed file of the last import that wrote one. */
    failed: () => read(failedFile!),
    /** The files of the folder, without those of the machines. */
    files: async () =>
      readdirSync(folder)
        .filter((name) => !homes.has(name))
        .sort(),
    /** The products of the service, oldest first: reference, name and number of photos. */
    products: async () =>
      world.products().map(({ reference, name, images }) => `${reference} ${name} ${images.length}`),
    allProducts: () => world.products(),
    productOf: (reference: string) => world.products().find((product) => product.reference === reference)!,
    /** The state of a machine, to read; it is closed when the test is over. */
    async stateOf(machine = "home") {
      const state = await openState(join(folder, `.${machine}`, "state", "default.db"), { clock });
      onTestFinished(() => state.close());
      return state;
    },
    /** Imports a file of the folder. */
    async import(file: string, flags: ImportFlags = {}, by: By = {}): Promise<Imported> {
      const { exit, stdout, stderr } = await runImport(file, flags, by, ["--json", "--progress", "json"]);
      const events: ProgressEvent[] = [];
      let stopped: PrintedError | undefined;
      for (const line of stderr.trimEnd().split("\n").filter(Boolean)) {
        const { progress, error } = JSON.parse(line) as { progress?: ProgressEvent; error?: PrintedError };
        if (progress !== undefined) events.push(progress);
        else if (!["rows_failed", "invalid_rows"].includes(error!.code)) stopped = error;
      }
      const { problems = [], ...printed } = stdout === "" ? {} : JSON.parse(stdout);
      if (typeof printed.run_id !== "string")
        return { exit, summary: null, runId: "", stopped, problems, events };
      if (!runs.includes(printed.run_id)) runs.push(printed.run_id);
      const summary: ImportSummary = {
        ...printed,
        ...(problems.length > 0 && { problems }),
        // The IDs of runs are random.
        run_id: `run_${runs.indexOf(printed.run_id) + 1}`,
      };
      failedFile = summary.failed_file ?? failedFile;
      return { exit, summary, runId: printed.run_id, stopped, problems: [], events };
    },
    /** Imports a file of the folder; returns the lines that people see. */
    async lines(file: string, flags: ImportFlags = {}, by: By = {}): Promise<string[]> {
      const { stderr } = await runImport(file, flags, by, ["--progress", "json"]);
      return stderr.split("\n").filter((line) => line !== "" && !line.startsWith('{"progress"'));
    },
  };
}

export type ImportWorld = Awaited<ReturnType<typeof importWorld>>;

/** What a key lacks that cannot compare rows with their products. */
export const withoutProducts: By = { lacks: ["products:read"] };
export const withoutExports: By = { lacks: ["exports:read"] };
export const blind: By = { lacks: ["products:read", "exports:read"] };

/** The batches among the requests; the question whether the service has had a key has a body without rows. */
export const isBatch = ({ method, path, body }: Parameters<Judge>[0]): boolean =>
  method === "POST" && path === "/v1/imports" && body.includes("reference");

/** Acts before the n-th batch is passed on. */
export const beforeBatch = (nth: number, act: () => unknown): By =>
  onBatch(nth, async () => {
    await act();
    return null;
  });

/** Acts once the service has responded to the n-th batch, before the command has the response. */
export const afterBatch = (nth: number, act: () => unknown): By =>
  onBatch(nth, () => ({
    async change(body) {
      await act();
      return body;
    },
  }));

/** Judges the n-th batch. */
export function onBatch(nth: number, judge: () => Verdict | Promise<Verdict>): By {
  let batches = 0;
  return { judge: (request) => (isBatch(request) && ++batches === nth ? judge() : null) };
}

/** Acts before the first request. */
export function beforeFirst(act: () => unknown): By {
  let requests = 0;
  return {
    async judge() {
      if (++requests === 1) await act();
      return null;
    },
  };
}
