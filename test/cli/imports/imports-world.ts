import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { openState } from "../../../src/state/open-state.ts";
import type { SentJob } from "../../../src/state/sent-jobs.ts";
import { createWorld, type WorldOptions } from "../../support/world.ts";

const cdn = "https://cdn.example.com";

/** A file of four rows: two succeed, one is partial, one fails. */
export const mixed = [
  "reference,name,images",
  `OK-1,Dress,${cdn}/1.jpg`,
  `PART-1,Coat,${cdn}/2.jpg|${cdn}/fail-timeout.jpg|${cdn}/fail-not_an_image.jpg`,
  `BAD-1,Hat,${cdn}/fail-http_error.jpg`,
  `OK-2,Shoe,${cdn}/3.jpg`,
  "",
].join("\n");

/** A file of rows that all succeed. */
export const tidy = (count: number): string =>
  `reference,name,images\n${Array.from({ length: count }, (_, index) => `R-${index},Dress,${cdn}/1.jpg\n`).join("")}`;

/** An id that no import has. */
export const unknownId = "01KE6W9ZJ8Q3V5X7B2D4F6H8JK";

/** What is not there for a command that must not need it. */
export const noSettings = { CAT_BASE_URL: undefined, CAT_API_KEY: undefined };

/** A world in which files can be sent and their imports be named. */
export async function importsWorld(options?: WorldOptions) {
  const world = await createWorld(options);
  return {
    ...world,
    /** Sends a file and waits for its end unless `--no-wait` is among the flags; gives the import's id. */
    async send(file: string, content: string, flags = ""): Promise<string> {
      world.write(file, content);
      const ran = await world.cat(`import ${file} --json --no-progress ${flags}`);
      return JSON.parse(ran.stdout).imports[0].id;
    },
    /** Has this machine remember imports, as if it had sent them. */
    async remember(sent: readonly SentJob[]): Promise<void> {
      const folder = join(world.folder, ".home", "state");
      mkdirSync(folder, { recursive: true });
      const state = await openState(join(folder, "default.db"), { clock: world.clock });
      for (const one of sent) state.sentJobs.add(one);
      state.close();
    },
    /** The imports that the list tells of. */
    async listed(flags = ""): Promise<Record<string, unknown>[]> {
      const { stdout } = await world.cat(`imports list --json ${flags}`);
      return stdout
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line));
    },
    /** Has the service fail at what the order's `match` fits. */
    async fault(order: object): Promise<void> {
      await fetch(`${world.mock.baseUrl}/_mock/faults`, { method: "POST", body: JSON.stringify(order) });
    },
  };
}

/** An import as it is remembered; the higher the number the later it was sent. */
export const sentImport = (number: number, fields: Partial<SentJob> = {}): SentJob => ({
  id: `01KE6W9ZJ8Q3V5X7B2D4F6${String(number).padStart(4, "0")}`,
  baseUrl: "https://api.example.com",
  runId: `run_${number}`,
  file: `${number}.csv`,
  kind: "import",
  variant: "upsert",
  rows: number,
  at: Date.parse("2026-01-04T12:00:00Z") + number * 60_000,
  status: "validating",
  ...fields,
});
