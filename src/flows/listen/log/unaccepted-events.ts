import { type EventLine, isAccepted, type ResultLine } from "./log-line.ts";

/** The events of a log that one of their handlers has not accepted: it failed, or a kill came before its response. */
export class UnacceptedEvents {
  /** The handlers that have not accepted an event, by its ID, and when it arrived (RFC 3339). */
  readonly #open = new Map<string, { readonly handlers: Set<string>; readonly receivedAt: string }>();

  /** Adds an event: the first line with its ID. */
  add({
    id,
    handlers = [],
    received_at: receivedAt,
  }: Pick<EventLine, "id" | "handlers" | "received_at">): void {
    if (handlers.length > 0) this.#open.set(id, { handlers: new Set(handlers), receivedAt });
  }

  /** Forgets the events that arrived before a time, in milliseconds since 1970. */
  forgetBefore(time: number): void {
    for (const [id, { receivedAt }] of this.#open) if (Date.parse(receivedAt) < time) this.#open.delete(id);
  }

  /** Adds a response, which follows its event. */
  settle(result: Pick<ResultLine, "result_of" | "url" | "status">): void {
    if (!isAccepted(result)) return;
    const handlers = this.#open.get(result.result_of)?.handlers;
    handlers?.delete(result.url);
    if (handlers?.size === 0) this.#open.delete(result.result_of);
  }

  has(id: string): boolean {
    return this.#open.has(id);
  }

  get count(): number {
    return this.#open.size;
  }

  /** The handlers, each once. */
  get urls(): readonly string[] {
    return [...new Set([...this.#open.values()].flatMap(({ handlers }) => [...handlers]))];
  }
}
