import { type EventLine, isAccepted, type ResultLine } from "./log-line.ts";

/** The events of a log that one of their handlers has not accepted: it failed, or a kill came before its response. */
export class UnacceptedEvents {
  /** The handlers that have not accepted an event, by its ID. */
  readonly #open = new Map<string, Set<string>>();

  /** Adds an event: the first line with its ID. */
  add({ id, handlers = [] }: Pick<EventLine, "id" | "handlers">): void {
    if (handlers.length > 0) this.#open.set(id, new Set(handlers));
  }

  /** Adds a response, which follows its event. */
  settle(result: Pick<ResultLine, "result_of" | "url" | "status">): void {
    if (!isAccepted(result)) return;
    const open = this.#open.get(result.result_of);
    open?.delete(result.url);
    if (open?.size === 0) this.#open.delete(result.result_of);
  }

  has(id: string): boolean {
    return this.#open.has(id);
  }

  get count(): number {
    return this.#open.size;
  }

  /** The handlers, each once. */
  get urls(): readonly string[] {
    return [...new Set([...this.#open.values()].flatMap((urls) => [...urls]))];
  }
}
