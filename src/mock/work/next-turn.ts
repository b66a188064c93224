/** Node's own, where a test replaces the global one by a fake that nothing fires. */
const { setImmediate } = globalThis;

/** Resolves in the next turn of the event loop, in real time. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
