import type { Import } from "../../contract/resources/imports.ts";
import { signedPaths } from "../images/signed-urls.ts";
import { checkRows, rowsOfNdjson } from "../jobs/import-body.ts";
import { startImport } from "../jobs/import-job.ts";
import type { Handlers } from "../requests/pipeline.ts";
import { found, invalid } from "../rules/rejection.ts";
import { type ImportJob, isTerminal } from "../store/records.ts";
import type { World } from "../world/world.ts";

export const imports = {
  create({ world, organization, query, body }) {
    // With NDJSON the options are in the query, with JSON in the body (Imports).
    const isNdjson = body.type === "application/x-ndjson";
    if (!isNdjson) rejectOptionsIn(query);
    const options = isNdjson ? query : body.value;
    const submitted = isNdjson
      ? rowsOfNdjson(body.value)
      : body.value.rows.map((value, index) => ({ line: index + 1, value }));
    const { mode = "upsert", on_image_error = "skip" } = options;
    const job = startImport(world, organization, checkRows(submitted), { mode, on_image_error });
    return { body: shown(world, job), retryAfter: world.pollSeconds(job) };
  },

  get({ world, organization, params }) {
    const job = found(organization.imports.get(params.import_id), "import");
    return { body: shown(world, job), retryAfter: world.pollSeconds(job) };
  },

  rows({ world, organization, params, query }) {
    const job = found(organization.imports.get(params.import_id), "import");
    const { status } = query;
    const list = `${organization.name} imports.rows ${job.id} ${status ?? "all"}`;
    // The position of a row in the input never changes, so it works as a key while rows leave `pending`.
    const rows = (after: number | null) => rowsAfter(job, after ?? -1, status);
    const page = world.cursors.page(
      list,
      query,
      rows,
      ({ index }) => index,
      ({ row }) => row.result,
    );
    return { body: page };
  },
} satisfies Handlers["imports"];

/** Rejects options in the query of a JSON request: ignoring them would start another import. */
function rejectOptionsIn(query: Readonly<Record<string, unknown>>): void {
  for (const name of ["mode", "on_image_error"]) {
    if (query[name] !== undefined)
      throw invalid(`${name}: with application/json, send it in the body instead`, name);
  }
}

/** The import as the service shows it, with a newly signed results URL on every read (Import). */
function shown(world: World, job: ImportJob): Import {
  const { id, status, mode, on_image_error, created_at, started_at, finished_at } = job;
  const total = job.rows.length;
  // "null while validating, never an estimate": no counts until every row is checked.
  const counts =
    status === "validating"
      ? { total: null, pending: 0, succeeded: 0, partial: 0, failed: 0 }
      : {
          total,
          pending: total - job.done,
          succeeded: job.succeeded,
          partial: job.partial,
          failed: job.failed,
        };
  const results_url = isTerminal(job) ? world.sign(signedPaths.importResults(id)).url : null;
  return { id, status, mode, on_image_error, counts, results_url, created_at, started_at, finished_at };
}

function* rowsAfter(
  job: ImportJob,
  after: number,
  status: string | undefined,
): Generator<{ row: ImportJob["rows"][number]; index: number }> {
  for (let index = after + 1; index < job.rows.length; index++) {
    const row = job.rows[index]!;
    if (status === undefined || row.result.status === status) yield { row, index };
  }
}
