import type { ServerResponse } from "node:http";
import { json, type Seen, type Step } from "../../http/scripted-server.ts";
import type { Judge } from "../../support/gateway.ts";
import type { By, ImportWorld } from "./run-import.ts";

/** Responses that differ from the usual ones, by number from 1. Null means the usual response. */
export interface Script {
  post?: (nth: number, usual: Step) => Step | null;
  job?: (job: number, asJob: (status: string) => object) => Step | null;
  results?: (job: number) => Step | null;
  /** The response to GET /v1/imports/{import_id}/rows. */
  rows?: (job: number) => Step | null;
  /** Headers added to the response to a POST. */
  postHeaders?: (nth: number) => Record<string, string>;
}

const idOf = (job: number): string => `01JGZZ00000000000000000${String(job).padStart(3, "0")}`;
const jobOf = (path: string): number => Number(/(\d{3})(?:\/rows)?(?:\?.*)?$/.exec(path)![1]);
const isList = (path: string): boolean => /\/rows(\?|$)/.test(path);

/** A service in place of the mock whose imports complete at once, except where the script differs. */
export function scriptedService(world: ImportWorld, script: Script) {
  const bodies: string[][] = [];
  const requests: Seen[] = [];
  const judge: Judge = () => (response, seen) => {
    requests.push(seen);
    stepFor(seen)(response, seen);
  };
  const asJob = (job: number, status: string) => ({
    ...{ id: idOf(job), status, mode: "upsert", on_image_error: "skip" },
    counts: { total: bodies[job - 1]!.length, pending: 0, succeeded: 0, partial: 0, failed: 0 },
    results_url: status === "completed" ? `${world.baseUrl}/results/${idOf(job)}` : null,
    ...{ created_at: "2026-01-05T09:00:00Z", started_at: null, finished_at: null },
  });
  let posts = 0;
  function asUsual(response: ServerResponse, { path }: Seen): void {
    const job = jobOf(path);
    const results = bodies[job - 1]!.map(resultOf);
    if (path.startsWith("/results/")) response.end(results.map((one) => `${JSON.stringify(one)}\n`).join(""));
    else if (isList(path)) json(200, pageOf(results, path))(response, undefined as never);
    else json(200, asJob(job, "completed"))(response, undefined as never);
  }
  function takeUp(nth: number): Step {
    return (response, seen) => {
      bodies.push(seen.body.toString().trimEnd().split("\n"));
      json(202, asJob(bodies.length, "validating"), script.postHeaders?.(nth))(response, seen);
    };
  }
  function stepFor({ method, path }: Seen): Step {
    if (method === "POST") {
      const usual = takeUp(++posts);
      return script.post?.(posts, usual) ?? usual;
    }
    if (path.startsWith("/v1/products")) return json(200, { data: [], has_more: false, next_cursor: null });
    const job = jobOf(path);
    const step = path.startsWith("/results/")
      ? script.results?.(job)
      : isList(path)
        ? script.rows?.(job)
        : script.job?.(job, (status) => asJob(job, status));
    return step ?? asUsual;
  }
  return {
    by: { judge } satisfies By,
    idOf,
    posts: () => requests.filter(({ method }) => method === "POST"),
    reads: (job: number) =>
      requests.filter(({ method, path }) => method === "GET" && path.endsWith(idOf(job))).length,
    downloads: () => requests.filter(({ path }) => path.startsWith("/results/")).length,
    /** The requested pages of rows. */
    lists: () => requests.filter(({ path }) => isList(path)).map(({ path }) => path),
    asJob,
  };
}

const resultOf = (row: string, index: number) => ({
  ...{ line: index + 1, reference: JSON.parse(row).reference, status: "succeeded", action: "created" },
  ...{ product_id: "01JGZZ0000000000000000000A", images: [], error: null },
});

/** The page for a path; the cursor is the index of its first entry. */
function pageOf<Entry>(entries: readonly Entry[], path: string) {
  const { searchParams } = new URL(path, "http://localhost");
  const from = Number(searchParams.get("cursor") ?? 0);
  const to = from + Number(searchParams.get("limit") ?? 25);
  const hasMore = to < entries.length;
  return { data: entries.slice(from, to), has_more: hasMore, next_cursor: hasMore ? `${to}` : null };
}
