import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { SentJob } from "../../../src/state/sent-jobs.ts";
import { openState } from "../../../src/state/state.ts";
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

/** A file of rows with a photo each, and one name. */
export const numberedRows = (count: number, name: string): string =>
  [
    "reference,name,images",
    ...Array.from({ length: count }, (_, at) => `R${at},${name},${cdn}/${at}.jpg`),
  ].join("\n");

/** An ID that no import has. */
export const unknownId = "01KE6W9ZJ8Q3V5X7B2D4F6H8JK";

/** Removes the settings that a command must not need. */
export const noSettings = { CAT_BASE_URL: undefined, CAT_API_KEY: undefined };

/** A test environment that sends files and returns the IDs of their imports. */
export async function importsWorld(options?: WorldOptions) {
  const world = await createWorld(options);
  return {
    ...world,
    /** Imports a file, and waits unless the flags have `--no-wait`. Returns the ID of the import. */
    async send(file: string, content: string, flags = ""): Promise<string> {
      world.write(file, content);
      const ran = await world.cat(`import ${file} --json --no-progress ${flags}`);
      return JSON.parse(ran.stdout).imports[0].id;
    },
    /** Stores imports on this machine, as if they had been sent from it. */
    async remember(sent: readonly SentJob[]): Promise<void> {
      const folder = join(world.folder, ".home", "state");
      mkdirSync(folder, { recursive: true });
      const state = await openState(join(folder, "default.db"), { clock: world.clock });
      for (const one of sent) state.sentJobs.add(one, Uint32Array.of(2, 3, 7));
      state.close();
    },
    /** The imports in the list. */
    async listed(flags = ""): Promise<Record<string, unknown>[]> {
      const { stdout } = await world.cat(`imports list --json ${flags}`);
      return stdout
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line));
    },
    /** Makes the service fail requests or jobs that match `match`. */
    async fault(order: object): Promise<void> {
      await fetch(`${world.mock.baseUrl}/_mock/faults`, { method: "POST", body: JSON.stringify(order) });
    },
  };
}

/** A stored import; a higher number was sent later. */
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
