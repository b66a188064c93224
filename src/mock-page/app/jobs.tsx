import type { ComponentChildren } from "preact";
import type { ExportCard, ImportCard, Jobs, TaskCard } from "../data.ts";
import { Badge, Bar, Empty, kindOfState, Picture, Time } from "./parts.tsx";

/** Imports, exports and tasks, newest first. */
export function JobsTab({ jobs }: { jobs: Jobs | null }) {
  if (jobs === null) return null;
  const { imports, exports, tasks } = jobs;
  if (imports.length + exports.length + tasks.length === 0) {
    return (
      <Empty title="No imports, exports or tasks yet.">
        <pre>cat import products.csv</pre>
      </Empty>
    );
  }
  return (
    <div class="scroll columns">
      <Group title="Imports" jobs={imports} item={ImportItem} />
      <Group title="Exports" jobs={exports} item={ExportItem} />
      <Group title="Tasks" jobs={tasks} item={TaskItem} />
    </div>
  );
}

interface JobGroup<Job> {
  title: string;
  jobs: readonly Job[];
  item: (props: { job: Job }) => ComponentChildren;
}

function Group<Job extends { id: string }>({ title, jobs, item: Item }: JobGroup<Job>) {
  const items = jobs.map((job) => (
    <li key={job.id}>
      <Item job={job} />
    </li>
  ));
  return (
    <section aria-label={title}>
      <h2>
        {title} <span class="count">{jobs.length}</span>
      </h2>
      {jobs.length === 0 ? <p class="hint">none</p> : <ul class="items">{items}</ul>}
    </section>
  );
}

function Head({ job, label }: { job: ImportCard | ExportCard | TaskCard; label: string }) {
  return (
    <>
      <p class="head">
        <Badge kind={kindOfState(job.status)}>{job.status}</Badge>
        <strong>{label}</strong>
        <Time at={job.created_at} />
      </p>
      {job.finished_at === null && <Bar value={job.progress} label="Progress" />}
    </>
  );
}

function ImportItem({ job }: { job: ImportCard }) {
  const { total, succeeded, partial, failed, problems } = job;
  const parts = [
    `${succeeded} succeeded`,
    partial > 0 && `${partial} partial`,
    failed > 0 && `${failed} failed`,
  ];
  return (
    <article class="job">
      <Head job={job} label={`${total.toLocaleString("en")} ${total === 1 ? "row" : "rows"}, ${job.mode}`} />
      <p>{parts.filter(Boolean).join(", ")}</p>
      {problems.length > 0 && (
        <ul class="problems">
          {problems.map(({ line, reference, reason }) => (
            <li>
              line {line}, <span class="mono">{reference}</span>: {reason}
            </li>
          ))}
        </ul>
      )}
      <Id job={job} />
    </article>
  );
}

function ExportItem({ job }: { job: ExportCard }) {
  return (
    <article class="job">
      <Head job={job} label={job.format} />
      <p>
        {job.products.toLocaleString("en")} products, {job.assets.toLocaleString("en")} assets
      </p>
      {job.error !== null && <p class="problems">{job.error}</p>}
      <Id job={job} />
    </article>
  );
}

function TaskItem({ job }: { job: TaskCard }) {
  const { type, subtype, reference, angle_shot, background, model, photo, output, error } = job;
  return (
    <article class="job task">
      <div class="pair">
        <Picture id={photo} label={`Photo of ${reference}`} />
        <Picture id={output} label={`${reference}, ${angle_shot}, ${background}`} />
      </div>
      <div>
        <Head job={job} label={reference} />
        <p>{[type, subtype, model, angle_shot, background].filter(Boolean).join(" · ")}</p>
        {error !== null && <p class="problems">{error}</p>}
        <Id job={job} />
      </div>
    </article>
  );
}

function Id({ job: { id, organization } }: { job: { id: string; organization: string } }) {
  return (
    <p class="hint mono">
      {id}
      {organization !== "main" && ` · organization ${organization}`}
    </p>
  );
}
