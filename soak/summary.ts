export type Summary = Record<string, unknown>;

/** The summary on stdout; undefined if missing or incomplete. */
export function summaryOf(stdout: string): Summary | undefined {
  try {
    return JSON.parse(stdout) as Summary;
  } catch {
    return undefined;
  }
}
