/** What a stage of a run has done, and what stopped it before its end: undefined where nothing did. */
export interface Stage<Done> {
  done: Done;
  stopped: unknown;
}

/** The next stage; where the one before it was stopped, it does nothing and is stopped by the same. */
export async function after<Done>(
  before: Stage<unknown>,
  nothing: Done,
  next: () => Promise<Stage<Done>>,
): Promise<Stage<Done>> {
  return before.stopped === undefined ? next() : { done: nothing, stopped: before.stopped };
}
