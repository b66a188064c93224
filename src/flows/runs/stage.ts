/** The result of a stage of a run, and the error that stopped it early (undefined if none). */
export interface Stage<Done> {
  done: Done;
  stopped: unknown;
}

/** Runs the next stage, unless the one before it was stopped: then passes that error on. */
export async function after<Done>(
  before: Stage<unknown>,
  nothing: Done,
  next: () => Promise<Stage<Done>>,
): Promise<Stage<Done>> {
  return before.stopped === undefined ? next() : { done: nothing, stopped: before.stopped };
}

/** What stopped some work before its end; undefined if nothing did. */
export const stoppedBy = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );
