/** A signal of one's own that also follows `parent`, and lets go of it when it is no longer needed. */
export interface LinkedAbort {
  readonly signal: AbortSignal;
  abort(reason: unknown): void;
  release(): void;
}

/** AbortSignal.any would do, but on the oldest Node supported it leaks on a signal that outlives thousands of calls. */
export function linkedAbort(parent: AbortSignal | undefined): LinkedAbort {
  const own = new AbortController();
  const follow = () => own.abort(parent?.reason);
  if (parent?.aborted) follow();
  else parent?.addEventListener("abort", follow, { once: true });
  return {
    signal: own.signal,
    abort: (reason) => own.abort(reason),
    release: () => parent?.removeEventListener("abort", follow),
  };
}
