import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { onTestFinished } from "vitest";
import { type Client, createClient } from "../../../src/client/client.ts";
import { importFile } from "../../../src/flows/import/import-file.ts";
import type { ImportInput, OutputTargets } from "../../../src/flows/import/import-input.ts";
import type { Problem } from "../../../src/flows/import/read/problem.ts";
import { openSource } from "../../../src/flows/import/read/source.ts";
import type { ProgressEvent } from "../../../src/flows/progress-event.ts";
import { type MockOptions, startMock } from "../../../src/mock/index.ts";
import { TestClock } from "../../support/test-clock.ts";
import { seededRandom } from "./check-support.ts";

/** A mock, a client and a folder, on a clock that jumps over waits. */
export async function importWorld(options: MockOptions = {}) {
  const clock = new TestClock();
  const mock = await startMock({ clock, seed: 1, rateLimit: false, ...options });
  const folder = await mkdtemp(join(tmpdir(), "catalogue-flow-"));
  const random = seededRandom(1);
  const client = createClient({ baseUrl: mock.baseUrl, apiKey: mock.apiKey, clock, random });
  onTestFinished(async () => {
    await client.close();
    await mock.stop();
    await rm(folder, { recursive: true });
  });
  return {
    mock,
    clock,
    client,
    folder,
    write: (name: string, text: string) => writeFile(join(folder, name), text),
    read: (name: string) => readFile(join(folder, name), "utf8"),
    files: async () => (await readdir(folder)).sort(),
    /** What the service holds, oldest first: reference, name and how many photos. */
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
    /** Runs the flow on a file of the folder; `through` may put something between it and the client. */
    async import(
      file: string,
      { failedFile, resultsFile = null, ...flags }: Partial<ImportInput & OutputTargets> = {},
      through: (client: Client) => Client | Promise<Client> = (same) => same,
      signal?: AbortSignal,
    ) {
      const source = await openSource(join(folder, file), { cwd: folder, stdin: Readable.from([]) });
      const problems: Problem[] = [];
      const events: ProgressEvent[] = [];
      const outcome = await importFile(
        {
          source,
          read: { map: new Map() },
          mode: "upsert",
          onImageError: "skip",
          skipInvalid: false,
          wait: true,
          concurrency: 4,
          timeoutMs: null,
          ...flags,
        },
        {
          clock,
          random,
          runId: "run_1",
          targets: async () => ({
            failedFile: failedFile ?? { path: join(folder, "failed"), name: "failed", overwrite: false },
            resultsFile,
          }),
          client: async () => through(client),
          signal,
          onProgress: (event) => events.push(event),
          onProblem: (problem) => void problems.push(problem),
        },
      );
      const { check, ended } = outcome;
      const { summary = null, stopped, sent = [], ...rest } = ended ?? {};
      return { check, ...rest, summary, stopped, sent, problems, events };
    },
  };
}

/** The client with another POST /v1/imports. */
export const withCreate = (client: Client, create: Client["imports"]["create"]): Client => ({
  ...client,
  imports: { ...client.imports, create },
});
