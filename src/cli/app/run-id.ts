/** A run's ID: it sorts by time, and is never used twice. */
export const newRunId = (now: number, uuid: string): string => `run_${now.toString(36)}${uuid.slice(0, 8)}`;
