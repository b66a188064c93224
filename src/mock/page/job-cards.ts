import type { ExportCard, ImportCard, Jobs, TaskCard } from "../../mock-page/data.ts";
import type { Organization } from "../store/organization.ts";
import { type ExportRecord, type ImportJob, isTerminal, type TaskRecord } from "../store/records.ts";
import type { World } from "../world/world.ts";

const shownJobs = 60;
const shownProblems = 5;

/** The newest jobs of both organizations. */
export function toJobs(world: World): Jobs {
  const now = world.clock.now();
  const of = <Card extends { created_at: string }>(cards: (organization: Organization) => Card[]): Card[] =>
    Object.values(world.organizations)
      .flatMap(cards)
      .sort((a, b) => (a.created_at < b.created_at ? 1 : a.created_at > b.created_at ? -1 : 0))
      .slice(0, shownJobs);
  return {
    imports: of((organization) => newest(organization.imports).map((job) => toImport(organization, job))),
    exports: of((organization) =>
      newest(organization.exports).map((job) => toExport(organization, job, now)),
    ),
    tasks: of((organization) =>
      organization.tasks
        .all()
        .slice(-shownJobs)
        .reverse()
        .map((task) => toTask(organization, task, now)),
    ),
  };
}

/** Jobs in progress, among the newest of each kind. */
export function countRunning(world: World): number {
  let count = 0;
  for (const { imports, exports, tasks } of Object.values(world.organizations)) {
    for (const job of newest(imports)) if (!isTerminal(job)) count++;
    for (const job of newest(exports)) if (job.status === "processing") count++;
    for (const task of tasks.all().slice(-1_000)) if (task.finished_at === null) count++;
  }
  return count;
}

const newest = <Job>(jobs: ReadonlyMap<string, Job>): Job[] => [...jobs.values()].slice(-shownJobs).reverse();

/** In steps of 2 %, so that a frame is not sent for less. */
const toProgress = (done: number, all: number): number =>
  Math.round(Math.min(1, Math.max(0, all > 0 ? done / all : 1)) * 50) / 50;

function toImport(organization: Organization, job: ImportJob): ImportCard {
  const { id, status, mode, created_at, finished_at, succeeded, partial, failed, rows } = job;
  const problems: ImportCard["problems"] = [];
  if (partial + failed > 0) {
    for (const { result } of rows) {
      if (result.status !== "failed" && result.status !== "partial") continue;
      const { line, reference } = result;
      const error = result.error ?? result.images.find((image) => image.error !== undefined)?.error;
      const reason = error == null ? "" : `${error.code}: ${error.message}`;
      if (problems.push({ line, reference, status: result.status, reason }) === shownProblems) break;
    }
  }
  return {
    id,
    organization: organization.name,
    status,
    mode,
    created_at,
    finished_at,
    progress: toProgress(job.done, rows.length),
    total: rows.length,
    succeeded,
    partial,
    failed,
    problems,
  };
}

function toExport(organization: Organization, job: ExportRecord, now: number): ExportCard {
  const { id, status, format, created_at, finished_at, products, total_assets, error, ready_at } = job;
  const begun = Date.parse(created_at);
  return {
    id,
    organization: organization.name,
    status,
    created_at,
    finished_at,
    progress: finished_at === null ? toProgress(now - begun, ready_at - begun) : 1,
    format,
    products: products.length,
    assets: total_assets,
    error: error === null ? null : `${error.code}: ${error.message}`,
  };
}

function toTask(organization: Organization, task: TaskRecord, now: number): TaskCard {
  const { id, type, subtype, status, product_id, created_at, finished_at, runs_at, ends_at, scene } = task;
  const isOver = finished_at !== null;
  const failure = status === "failed" ? task.failure : null;
  return {
    id,
    organization: organization.name,
    status,
    created_at,
    finished_at,
    progress: isOver ? 1 : toProgress(now - runs_at, ends_at - runs_at),
    type,
    subtype,
    product_id,
    reference: scene.reference,
    angle_shot: scene.angle_shot,
    background: scene.background,
    model: scene.person === null ? null : (scene.person.name ?? scene.person.id),
    photo: organization.products.get(product_id)?.images[0]?.id ?? null,
    output: task.output_image_id,
    error: failure === null ? null : `${failure.code}: ${failure.message}`,
  };
}
