import { createReadStream } from "node:fs";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { CatError, fileProblem } from "../../../errors.ts";
import type { PlanSummary } from "../../../flows/import/change-plan.ts";
import type { PlanToApply } from "../../../flows/import/import-input.ts";
import type { PlannedRow } from "../../../flows/import/plan.ts";
import { nothingSent } from "../../../flows/import/summary.ts";
import { InputError } from "../../../flows/rows/source.ts";
import { shortDigest } from "../../../flows/short-digest.ts";
import { shownName } from "../../../flows/words.ts";
import { parseJson } from "../../../json.ts";
import type { App } from "../../app/app.ts";
import { DeclinedError, UsageError } from "../../context/errors.ts";
import { flagName } from "../../output/command-words.ts";
import { type ImportFlags, ofCommand, type RawFlags, readFlags } from "./flags.ts";
import { nextDigest, type PlanHead, PlanView, planVersion, rejectPartial } from "./plan-run.ts";
import { orNothingSent, runImport } from "./run.ts";

/** `cat import --apply PLAN`: imports the file of a plan as planned, or shows the plan with `--dry-run`. */
export async function applyRun(
  app: App,
  files: readonly string[],
  raw: RawFlags,
  findSource: (flag: string) => string | undefined,
): Promise<void> {
  const name = raw.apply!;
  if (files.length > 0)
    throw new UsageError("--apply cannot be used with FILE: the plan names its file", {
      param: "FILE",
      hint: `Remove ${files[0]}, or plan it first: cat import ${files[0]} --plan ${name}`,
    });
  for (const flag of Object.keys(raw))
    if (findSource(flag) === "cli" && (!ofCommand.has(flag) || notApplied.has(flag)))
      throw new UsageError(`${flagName(flag)} cannot be used with --apply`, {
        param: flagName(flag),
        hint: notApplied.has(flag) ? "Remove one of them." : "Use it with --plan: the plan keeps it.",
      });
  const view = new PlanView(app, raw.planFormat ?? "table");
  const { mode, dryRun = false } = raw;
  const reading = readPlan(app, name, dryRun ? view.add : null);
  const { head, summary, rows } = await orNothingSent(app, [{ file: name, mode, dryRun }], reading);
  if (dryRun) return showPlan(app, view, head, summary);
  const { id, identity, file, file_sha256: fileSha256, base_url: baseUrl, account } = head;
  const applies: PlanToApply = {
    id,
    identity,
    fileSha256,
    baseUrl,
    account,
    isPlanned: (line, row) => rows.get(line) === lineDigest(row),
  };
  const { clock } = app.context;
  const startedAt = clock.now();
  const flags = readFlags(file, { ...raw, ...(head.flags as object) } as RawFlags, app.context.cwd);
  await runImport(app, [{ ...flags, applies }], async (error) => {
    if (!(error instanceof CatError && error.code === "plan_applied")) throw error;
    if (!app.io.json) throw new DeclinedError(error.message, error.code);
    await app.io.jsonData(nothingLeft({ id, file, mode: flags.mode }, summary, clock.now() - startedAt));
  });
}

/** The summary (`ImportSummary`) of a plan that was applied before: nothing of it is left to send. */
const nothingLeft = (
  { id, file, mode }: Pick<PlanHead, "id" | "file"> & Pick<ImportFlags, "mode">,
  { total, invalid }: PlanSummary,
  durationMs: number,
) => ({
  run_id: id,
  file,
  mode,
  total,
  invalid,
  ...nothingSent,
  unchanged: total - invalid,
  duration_ms: Math.round(durationMs),
});

/** Flags of the command that a plan has no use for. */
const notApplied: ReadonlySet<string> = new Set(["plan", "fresh", "template"]);

const lineDigest = (line: string): string => shortDigest(line, 12).toString("latin1");

/** Reads a plan completely before it is used. Throws an InputError for a damaged, edited or newer one. */
async function readPlan(app: App, name: string, onRow: ((row: PlannedRow) => void) | null) {
  const rows = new Map<number, string>();
  let head: PlanHead | undefined;
  let digest = "";
  let last: string | undefined;
  for await (const line of readLines(resolve(app.context.cwd, name), name)) {
    if (last !== undefined) {
      digest = nextDigest(digest, last);
      if (head === undefined) head = readHead(last, name);
      else {
        const row = parsed<PlannedRow>(last);
        if (row === null) throw damaged(name);
        rows.set(row.line, lineDigest(last));
        onRow?.(row);
      }
    }
    last = line;
  }
  const end = last === undefined ? null : parsed<PlanSummary & { sha256?: string }>(last);
  if (last === undefined) throw notAPlan(name);
  if (head === undefined) readHead(last, name);
  if (head === undefined || end === null || end.sha256 !== digest) throw damaged(name);
  return { head, summary: end as PlanSummary, rows };
}

async function* readLines(path: string, name: string): AsyncGenerator<string> {
  try {
    yield* createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY });
  } catch (error) {
    const fault = fileProblem(error as NodeJS.ErrnoException);
    throw new UsageError(`cannot read the plan ${shownName(name)}: ${fault?.why ?? String(error)}`, {
      param: "--apply",
      hint: "Check its name and the current folder.",
    });
  }
}

function parsed<Value>(line: string): Value | null {
  try {
    const value: unknown = parseJson(line);
    return typeof value === "object" && value !== null ? (value as Value) : null;
  } catch {
    return null;
  }
}

function readHead(line: string, name: string): PlanHead {
  const head = parsed<PlanHead>(line);
  if (typeof head?.plan !== "number") throw notAPlan(name);
  if (head.plan > planVersion)
    throw new InputError(
      `${name} is a plan of a newer version of this program`,
      "newer_plan",
      "Update the program, or plan again with this version.",
    );
  return head;
}

const notAPlan = (name: string): InputError =>
  new InputError(`${name} is not a plan`, "not_a_plan", `Write one: cat import FILE --plan ${name}`);

const damaged = (name: string): InputError =>
  new InputError(`${name} was edited or cut short; nothing was sent`, "damaged_plan", "Plan again.");

/** Shows a plan without a request, however old it is; its rows decide the exit status as in the plan. */
async function showPlan(app: App, view: PlanView, head: PlanHead, summary: PlanSummary): Promise<void> {
  const { created_at, file, base_url } = head;
  if (app.io.json) await app.io.jsonData(summary);
  else {
    await view.end(summary);
    const planned = `Planned at ${created_at} for ${shownName(file)} and ${base_url}.`;
    await app.io.note(app.io.visible(`${planned} Nothing was sent (--dry-run).`));
  }
  rejectPartial(summary, file);
}
