import { importKind } from "../../../flows/import/import-input.ts";
import { type CheckResult, checkCounts } from "../../../flows/rows/check.ts";
import { counted, shownName } from "../../../flows/words.ts";
import type { App } from "../../app/app.ts";
import { mapFileNames } from "../../mapping/map-files.ts";
import { orPrinted } from "../../output/or-reported.ts";
import type { FoundProblems } from "../../reports/found-problems.ts";
import { withReports } from "../../reports/with-reports.ts";
import { listedChecks, rejection } from "./check-report.ts";
import type { ImportFlags } from "./flags.ts";
import { type OpenedFile, openFiles } from "./open-file.ts";

const rethrown = (error: unknown): Promise<void> => Promise.reject(error);

/** Checks the files, and imports them unless it is a dry run. Throws what stopped it without `onStopped`. */
export const runImport = (
  app: App,
  typed: readonly ImportFlags[],
  onStopped: (error: unknown) => Promise<void> = rethrown,
): Promise<void> => {
  const [{ report, failed, results, ledger }] = typed as [ImportFlags];
  const inputs = typed.map(({ file }) => file);
  const others = [failed, results, ...mapFileNames(typed)];
  const command = { name: "import", inputs, report, others, ledger };
  return withReports(app, command, (foundProblems) =>
    importOrCheck(app, typed, foundProblems).catch(onStopped),
  );
};

async function importOrCheck(
  app: App,
  typed: readonly ImportFlags[],
  foundProblems: FoundProblems | null,
): Promise<void> {
  const [{ plan, dryRun }] = typed as [ImportFlags];
  if (!dryRun && plan === undefined)
    await app.runs.begin(importKind, typed.map(({ file }) => file).join(", "));
  if (typed.length > 1) await (await import("./several.ts")).rejectUnshared(typed, app.context.cwd);
  const opened = await orNothingSent(app, typed, openFiles(app, typed));
  try {
    if (dryRun) await checkOnly(app, opened, foundProblems);
    else if (plan !== undefined) await (await import("./plan-run.ts")).planRun(app, opened, foundProblems);
    else await (await import("./full-run.ts")).fullRun(app, opened, foundProblems);
  } finally {
    for (const { close } of opened) await close();
  }
}

/** With `--json` every rejection has its object on stdout, also of files in which no rows are found. */
export const orNothingSent = <Found>(
  app: App,
  typed: readonly Pick<ImportFlags, "file" | "mode" | "dryRun" | "plan">[],
  finding: Promise<Found>,
): Promise<Found> =>
  orPrinted(app, finding, async () => {
    const [{ file, mode, dryRun, plan }] = typed as [(typeof typed)[number]];
    const counts = { total: 0, valid: 0, invalid: 0 };
    const { imports, failed_file, results_file, ...sums } = (await import("../../../flows/import/summary.ts"))
      .nothingSent;
    const isCheck = dryRun || plan !== undefined;
    if (typed.length > 1) return { files: [], ...counts, ...(isCheck ? {} : { ...sums, duration_ms: 0 }) };
    const run = { run_id: null, mode, ...sums, imports, failed_file, results_file, duration_ms: 0 };
    return { file, problems: [], ...counts, ...(isCheck ? {} : run) };
  });

async function checkOnly(
  app: App,
  opened: readonly OpenedFile[],
  foundProblems: FoundProblems | null,
): Promise<void> {
  const checks = await listedChecks(app, opened, { found: foundProblems });
  if (foundProblems !== null) foundProblems.counts = checkCounts(checks);
  const isBad = ({ invalid, unusable }: CheckResult) => invalid > 0 || unusable;
  if (checks.some(isBad)) throw rejection(opened, checks, isBad);
  const name = opened.map(({ file }) => shownName(file.source.name)).join(", ");
  const total = checks.reduce((sum, check) => sum + check.total, 0);
  const { left = 0 } = checks[0]!;
  const others = left === 0 ? "" : ` ${counted(left, "row")} left (--limit).`;
  await app.io.note(
    `${app.io.visible(name)}: ${counted(total, "row")}, all valid.${others} Nothing was sent (--dry-run).`,
  );
}
