import type { Clock } from "../../clock.ts";
import { verifySignature } from "../../contract/signature.ts";
import type { CatError } from "../../errors.ts";
import type { Post, PostOutcome } from "../../http/post.ts";
import { DeepJsonError, isObject, parseJson } from "../../json.ts";
import type { EventLog, LoggedEvent } from "./event-log.ts";
import { explainRejection, type SignatureProblem } from "./explain-rejection.ts";
import {
  type Delivery,
  type EventPattern,
  forwardEvent,
  type Handler,
  type HandlerResponse,
  matches,
  urlsFor,
} from "./forward.ts";
import { type EventLine, isAccepted, type NamedEvent } from "./log-lines.ts";

export interface ListenView {
  /**
   * A new event, which is on disk: called once for each ID, also across restarts. `onShowing` must be called
   * right before the event is shown: a kill until then shows it at the next start, a kill from then on never
   * again. A rejection ends the listener.
   */
  onEvent(event: EventLine, delivery: Delivery, onShowing: () => void): Promise<void> | void;
  /**
   * Called once before events that an earlier listener received but did not show; `onMissed` follows for each
   * of them. No new event comes before the last one.
   */
  onMissing(count: number): Promise<void> | void;
  onMissed: ListenView["onEvent"];
  onHandled(event: NamedEvent, response: HandlerResponse): void;
  /** A delivery of a known event, and the handlers that get it again because they have not accepted it. */
  onRepeated(event: NamedEvent, urls: readonly string[]): void;
  /** A rejected request, or a log that cannot be written: a phrase in lower case, and the next step. */
  onProblem(message: string, hint?: string): void;
}

/** An event whose signature and form were checked. */
export interface ReceivedEvent {
  readonly id: string;
  readonly type: string;
  readonly created_at: string | null;
  /** The resource and its status, e.g. `{"task": {"id", "status"}}`; anything else for an unknown type. */
  readonly data: unknown;
}

export interface Check {
  readonly secret: string;
  readonly headerName: string;
  readonly toleranceSeconds: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

const longestId = 200;

/** The event of a delivery, or why it is rejected (Events, Signature 3). */
export function readDelivery(
  header: string | undefined,
  body: Buffer,
  { secret, headerName, toleranceSeconds, now }: Check,
): ReceivedEvent | SignatureProblem {
  const delivery = { header, rawBody: body, secret, toleranceSeconds };
  const verdict = verifySignature({ ...delivery, now });
  return verdict.ok ? parseEvent(body) : explainRejection(verdict, delivery, headerName);
}

export const isProblem = (read: ReceivedEvent | SignatureProblem): read is SignatureProblem => "hint" in read;

/** Strict, because the log keeps the body as text. */
const strictly = new TextDecoder("utf-8", { fatal: true });

function parseEvent(body: Buffer): ReceivedEvent | SignatureProblem {
  let event: unknown;
  try {
    event = parseJson(strictly.decode(body));
  } catch (error) {
    return problem(error instanceof DeepJsonError ? `its body is ${error.message}` : "its body is not JSON");
  }
  if (!isObject(event)) return problem("its body is not a JSON object");
  const { id, type, created_at: createdAt, data = null } = event;
  if (typeof id !== "string" || id === "" || id.length > longestId) return problem("it has no valid ID");
  if (typeof type !== "string" || type === "") return problem("it has no type");
  return { id, type, created_at: typeof createdAt === "string" ? createdAt : null, data };
}

const problem = (why: string): SignatureProblem => ({
  code: "invalid_event",
  message: `the delivery is signed, but ${why}`,
  hint: "Check what sends it: the service sends an object with id, type, created_at and data.",
});

/** The outcome of a delivery: 200, 502 if a handler failed, 500 if the event could not be logged. */
export type DeliveryStatus = 200 | 500 | 502;

/** Who signed an event: the header of the service, or one of the listener, which has polled. */
type EventOrigin = Pick<EventLine, "header" | "synthetic">;

interface DeliveriesOptions {
  readonly log: EventLog;
  readonly handlers: readonly Handler[];
  /** The events to show and to forward; the others are only logged. Null for all. */
  readonly shown: EventPattern | null;
  readonly view: ListenView;
  readonly clock: Clock;
  /** Masks the API key in the text of an event, for the log. */
  readonly mask: (text: string) => string;
  readonly send: (post: Post) => Promise<PostOutcome>;
  /** Receives the first error of `view.onEvent`. */
  readonly onViewFailed: (error: unknown) => void;
}

/**
 * Takes events in the order that no kill can undo: log, show, forward, record the responses. An event with a
 * known ID goes only to the handlers that have not accepted it.
 */
export class Deliveries {
  #waiting = 0;
  readonly #inWork = new Map<string, Promise<DeliveryStatus>>();
  readonly #unaccepted = new Set<string>();

  constructor(private readonly options: DeliveriesOptions) {}

  /** Logs, shows and forwards a delivery. While an event is in work, a repetition gets the first's status. */
  accept(event: ReceivedEvent, delivery: Delivery, origin: EventOrigin): Promise<DeliveryStatus> {
    const first = this.#inWork.get(event.id);
    if (first !== undefined) return first;
    const work = this.#handle(event, delivery, origin)
      .then((status) => {
        if (status === 200) this.#unaccepted.delete(event.id);
        else this.#unaccepted.add(event.id);
        return status;
      })
      .finally(() => this.#inWork.delete(event.id));
    this.#inWork.set(event.id, work);
    return work;
  }

  /** Sends an event of the log to its handlers again, also to those that have accepted it. */
  async resend(event: NamedEvent, delivery: Delivery): Promise<HandlerResponse[]> {
    const urls = urlsFor(this.options.handlers, event.type);
    return Promise.all(urls.map((url) => this.#forward(event, url, delivery)));
  }

  /**
   * Shows events that a killed process has logged but not shown. They are not forwarded: their sender may not
   * send them again, because a webhook of that process is deleted, but the log has them for a replay.
   */
  async showMissed(events: readonly LoggedEvent[], headerName: string): Promise<void> {
    const { view } = this.options;
    const count = events.filter(({ line }) => this.#isShown(line)).length;
    if (count > 0) await view.onMissing(count);
    for (const { line, place } of events) {
      const rawHeaders = line.header === null ? [] : [headerName, line.header];
      await this.#show(line, { rawHeaders, body: Buffer.from(line.body) }, place, view.onMissed);
    }
  }

  /** The number of requests to handlers that have no response. */
  get waiting(): number {
    return this.#waiting;
  }

  /** The number of events whose last delivery was not accepted. */
  get unaccepted(): number {
    return this.#unaccepted.size;
  }

  async #handle(event: ReceivedEvent, delivery: Delivery, origin: EventOrigin): Promise<DeliveryStatus> {
    const { log, view } = this.options;
    const isShown = this.#isShown(event);
    const all = isShown ? urlsFor(this.options.handlers, event.type) : [];
    const isNew = !log.isKnown(event.id);
    if (isNew) {
      const line = this.#toLine(event, delivery, origin, all);
      const place = await this.#written(log.append(line));
      if (place === null) return 500;
      await this.#show(line, delivery, place);
    }
    const open = all.filter((url) => !log.acceptedBy(event.id).includes(url));
    if (!isNew && isShown) view.onRepeated(event, open);
    const responses = await Promise.all(open.map((url) => this.#forward(event, url, delivery)));
    return responses.every(isAccepted) ? 200 : 502;
  }

  #toLine(
    event: ReceivedEvent,
    delivery: Delivery,
    origin: EventOrigin,
    handlers: readonly string[],
  ): EventLine {
    const { id, type, created_at, data } = event;
    const received = delivery.body.toString("utf8");
    const body = this.options.mask(received);
    return {
      id,
      type,
      created_at,
      data: body === received ? data : ((parseJson(body) as { data?: unknown }).data ?? null),
      received_at: new Date(this.options.clock.now()).toISOString(),
      body,
      ...origin,
      ...(handlers.length > 0 && { handlers }),
    };
  }

  #isShown({ type }: Pick<EventLine, "type">): boolean {
    const { shown } = this.options;
    return shown === null || matches(shown, type);
  }

  async #show(
    line: EventLine,
    delivery: Delivery,
    place: number,
    show: ListenView["onEvent"] = this.options.view.onEvent,
  ): Promise<void> {
    const mark = () => this.options.log.markShown(place);
    if (!this.#isShown(line)) return mark();
    try {
      await show(line, delivery, mark);
    } catch (error) {
      this.options.onViewFailed(error);
    }
  }

  async #forward(event: NamedEvent, url: string, delivery: Delivery): Promise<HandlerResponse> {
    const { clock, log, view, send } = this.options;
    this.#waiting++;
    const response = await forwardEvent(url, delivery, send).finally(() => this.#waiting--);
    view.onHandled(event, response);
    await this.#written(
      log.record({ result_of: event.id, ...response, at: new Date(clock.now()).toISOString() }),
    );
    return response;
  }

  /** The result of writing a line; null if it is not on disk. The listener lives on then. */
  async #written<Result>(writing: Promise<Result>): Promise<Result | null> {
    try {
      return await writing;
    } catch (error) {
      const { message, hint } = error as Partial<CatError>;
      this.options.view.onProblem(message ?? String(error), hint);
      return null;
    }
  }
}
