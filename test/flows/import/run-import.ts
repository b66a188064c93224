import { createReadStream } from "node:fs";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { onTestFinished } from "vitest";
import { ApiError } from "../../../src/client/api-error.ts";
import { type Client, createClient } from "../../../src/client/client.ts";
import { operations } from "../../../src/contract/client-operations.ts";
import { importFiles } from "../../../src/flows/import/import-file.ts";
import { importForm } from "../../../src/flows/import/import-form.ts";
import type { ImportHost, ImportInput } from "../../../src/flows/import/import-input.ts";
import type { OutputTargets } from "../../../src/flows/outputs/results-file.ts";
import { LocalPhotos } from "../../../src/flows/photos/local-photos.ts";
import type { ProgressEvent } from "../../../src/flows/progress-event.ts";
import type { InputProblem } from "../../../src/flows/rows/problem.ts";
import { openSource } from "../../../src/flows/rows/source.ts";
import type { FaultOrder } from "../../../src/mock/faults/fault-order.ts";
import { type MockOptions, type MockState, startMock } from "../../../src/mock/index.ts";
import type { State } from "../../../src/state/state.ts";
import { openState } from "../../../src/state/state.ts";
import { seededRandom } from "../../support/seeded-random.ts";
import { TestClock } from "../../support/test-clock.ts";

/** A machine or user other than the default one. */
export interface Machine {
  state: State;
  client: Client;
  fingerprint: string;
  ask: NonNullable<ImportHost["ask"]>;
}

type Flags = Partial<ImportInput & OutputTargets> & {
  /** Whether the file is piped in, so that the command cannot read it again. */
  piped?: boolean;
  /** Only so many rows are imported. */
  limit?: number | undefined;
  machine?: Partial<Machine>;
};

const importFile = async (input: ImportInput, host: ImportHost) =>
  (await importFiles([{ input, host }])).outcomes[0]!;

const job = { noun: "import", ifEdited: "Do not use --photos all." };

/** A mock, a client and a folder, on a clock that skips waits. */
export async function importWorld(options: MockOptions = {}) {
  const clock = new TestClock();
  const mock = await startMock({ clock, seed: 1, rateLimit: false, ...options });
  const folder = await mkdtemp(join(tmpdir(), "catalogue-flow-"));
  const random = seededRandom(1);
  const client = createClient({ baseUrl: mock.baseUrl, apiKey: mock.apiKey, clock, random });
  const state = await openState(null, { clock });
  let runs = 0;
  let keys = 0;
  onTestFinished(async () => {
    state.close();
    await client.close();
    await mock.stop();
    await rm(folder, { recursive: true });
  });
  return {
    mock,
    clock,
    client,
    folder,
    /** The local state. */
    state,
    /** Injects a fault (interface, serve --mock, Faults); without an order, removes all faults. */
    async fault(order?: FaultOrder) {
      const body = order === undefined ? {} : { body: JSON.stringify(order) };
      const headers = { "content-type": "application/json" };
      const method = order === undefined ? "DELETE" : "POST";
      const { ok } = await fetch(`${mock.baseUrl}/_mock/faults`, { method, headers, ...body });
      if (!ok) throw new Error("no such fault");
    },
    /** Restores an earlier state of the service (interface, serve --mock, Control). */
    async putBack(state: MockState) {
      const headers = { "content-type": "application/json" };
      const body = JSON.stringify(state);
      const { ok } = await fetch(`${mock.baseUrl}/_mock/state`, { method: "PUT", headers, body });
      if (!ok) throw new Error("no such state");
    },
    /** The writes so far: method, path and status of each. */
    writes: () =>
      mock
        .requests()
        .filter(({ method, path }) => method !== "GET" && path.startsWith("/v1/"))
        .map(({ method, path, status, replayed }) =>
          [method, path.split("?")[0], replayed ? "replayed" : status].join(" "),
        ),
    write: (name: string, text: string) => writeFile(join(folder, name), text),
    read: (name: string) => readFile(join(folder, name), "utf8"),
    files: async () => (await readdir(folder)).sort(),
    /** The products of the service, oldest first: reference, name and number of photos. */
    async products() {
      const found: string[] = [];
      for (let cursor: string | undefined; ; ) {
        const page = await client.products.list({ limit: 100, ...(cursor === undefined ? {} : { cursor }) });
        for (const { reference, name, images } of page.data)
          found.push(`${reference} ${name} ${images.length}`);
        if (!page.has_more || page.next_cursor === null) return found.reverse();
        cursor = page.next_cursor;
      }
    },
    /** Imports a file of the folder; `through` can wrap the client. */
    async import(
      file: string,
      {
        failedFile,
        resultsFile = null,
        piped = false,
        limit,
        machine = {},
        map = new Map(),
        ...flags
      }: Flags = {},
      through: (client: Client) => Client | Promise<Client> = (same) => same,
      signal?: AbortSignal,
    ) {
      const stdin = () => (piped ? createReadStream(join(folder, file)) : Readable.from([]));
      const source = await openSource(piped ? "-" : join(folder, file), { job, cwd: folder, stdin });
      const localPhotos = flags.localPhotos ?? new LocalPhotos({ root: folder });
      const memory = machine.state ?? state;
      const problems: InputProblem[] = [];
      const events: ProgressEvent[] = [];
      const notes: string[] = [];
      const outcome = await importFile(
        {
          values: new Map(),
          file: { source, read: {}, limit, form: importForm(map, localPhotos) },
          map,
          localPhotos,
          mode: "upsert",
          onImageError: "skip",
          photos: (flags.mode ?? "upsert") === "upsert" ? "new" : "all",
          fresh: false,
          unknown: undefined,
          sameOrganization: false,
          skipInvalid: false,
          wait: true,
          concurrency: 4,
          timeoutMs: null,
          ...flags,
        },
        {
          clock,
          random,
          newKey: () => `key-${++keys}`,
          pid: 4711,
          runId: `run_${++runs}`,
          memory: async () => ({
            ...{ state: memory, sentJobs: memory.sentJobs },
            service: { baseUrl: mock.baseUrl, keyFingerprint: machine.fingerprint ?? "fingerprint" },
          }),
          ask: machine.ask,
          writesPerMinute: 60,
          onNote: (note) => void notes.push(note),
          targets: async () => ({
            failedFile: {
              isNamed: failedFile?.overwrite === true,
              ...(failedFile ?? { path: join(folder, "failed"), name: "failed", overwrite: false }),
            },
            resultsFile,
          }),
          client: async () => through(machine.client ?? client),
          signal,
          onProgress: (event) => events.push(event),
          onProblem: (problem) => void problems.push(problem),
        },
      );
      await source.close();
      const { check, ended } = outcome;
      const { summary = null, stopped, sent = [], ...rest } = ended ?? {};
      return { check, ...rest, summary, stopped, sent, problems, events, notes };
    },
  };
}

/** The error for a key without products:read. */
export function mayNot(): never {
  throw new ApiError({
    ...{ request: "GET /v1/products/ID", status: 403 },
    body: { type: "forbidden", code: "insufficient_scope", message: "the key lacks products:read" },
  });
}

// biome-ignore lint/correctness/useYield: it ends before the first page.
async function* refused(): AsyncGenerator<never> {
  mayNot();
}

/** A client whose key lacks products:read. */
export const withoutProducts = (client: Client): Client => ({
  ...client,
  products: { ...client.products, get: async () => mayNot(), list: async () => mayNot() },
  paginate: (operation, ...rest) =>
    operation.path === operations.products.list.path ? refused() : client.paginate(operation, ...rest),
});

/** A client whose key lacks exports:read. */
export const withoutExports = (client: Client): Client => ({
  ...client,
  exports: { ...client.exports, list: async () => mayNot() },
  paginate: (operation, ...rest) =>
    operation.path === operations.exports.list.path ? refused() : client.paginate(operation, ...rest),
});

/** A client whose key lacks both scopes. */
export const blind = (client: Client): Client => withoutExports(withoutProducts(client));

/** The client with another POST /v1/imports. */
export const withCreate = (client: Client, create: Client["imports"]["create"]): Client => ({
  ...client,
  imports: { ...client.imports, create },
});

/** A client of a service that does not list the rows of imports. */
export const withoutRows = (client: Client): Client => ({
  ...client,
  paginate: (operation, ...rest) => {
    if (operation.path !== operations.imports.rows.path) return client.paginate(operation, ...rest);
    throw new ApiError({
      ...{ request: `GET ${operation.path}`, status: 404 },
      body: { type: "not_found", code: "import_not_found", message: "import not found" },
    });
  },
});
