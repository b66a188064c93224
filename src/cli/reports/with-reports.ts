import type { App } from "../app/app.ts";
import { ExitCode, toExitCode } from "../context/errors.ts";
import type { FoundProblems } from "./found-problems.ts";
import type { ReportedCommand } from "./open-reports.ts";

/** Runs a command and reports its problems to CI and `--report`, however it ends; a failed report warns. */
export async function withReports(
  app: App,
  command: ReportedCommand,
  work: (found: FoundProblems | null) => Promise<void>,
): Promise<void> {
  const { env } = app.context;
  const isOnGitHub = env.GITHUB_ACTIONS === "true" && env.CAT_ANNOTATIONS !== "off";
  if (command.report.length === 0 && !isOnGitHub) return work(null);
  const { openReports } = await import("./open-reports.ts");
  const reports = await openReports(app, command, isOnGitHub);
  try {
    await work(reports.found);
  } catch (error) {
    if (toExitCode(error) !== ExitCode.done) reports.stop(app.lastFailure?.addTo(error) ?? error);
    throw error;
  } finally {
    await reports.write();
  }
}
