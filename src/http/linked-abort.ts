/** A signal that can be aborted by itself and also follows `parent` until it is released. */
export interface LinkedAbort {
  readonly signal: AbortSignal;
  abort(reason: unknown): void;
  release(): void;
}

/**
 * Replaces AbortSignal.any, which leaks on the oldest supported Node if the parent outlives thousands of
 * requests.
 */
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
