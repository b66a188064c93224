import { signDelivery } from "../../contract/signature.ts";
import { Deliveries } from "./deliveries.ts";
import { EventLog } from "./event-log.ts";
import type { EventSource, ListenHost, ListenInput, OpenListener, RunningListener } from "./listener.ts";
import { Poller, syntheticEvent } from "./poller.ts";
import { receive } from "./receive.ts";
import { resender } from "./sign-again.ts";

/** How long a listener reports events that a handler has not accepted, in milliseconds: a day. */
const unacceptedMs = 86_400_000;

/**
 * Receives events until the signal, whose reason does not matter here. Throws a CatError if it cannot listen,
 * register or poll. Deliveries in progress are responded to before it ends, and its webhook is deleted or
 * kept.
 */
export async function listen(input: ListenInput, host: ListenHost): Promise<void> {
  const log = await EventLog.open(input.logPath);
  try {
    const stop = new AbortController();
    const signal = AbortSignal.any([host.signal, stop.signal]);
    const deliveries = new Deliveries({
      log,
      handlers: input.handlers,
      shown: input.events,
      view: host.view,
      clock: host.clock,
      send: host.send,
      mask: (text) => ("service" in input.source ? input.source.service.client.withoutKey(text) : text),
      onViewFailed: (error) => stop.abort(error),
    });
    const onStop = () => {
      const { waiting } = deliveries;
      const who = waiting === 1 ? "a handler" : `${waiting} handlers`;
      if (waiting > 0) host.onNote(`Waiting for ${who} to respond (10 seconds at most).`);
    };
    signal.addEventListener("abort", onStop, { once: true });
    const onListening = async (listening: OpenListener) => {
      await host.onListening(listening);
      const unaccepted = log.takeUnaccepted();
      unaccepted.forgetBefore(host.clock.now() - unacceptedMs);
      if (unaccepted.count > 0 && input.handlers.length > 0) host.onUnaccepted(unaccepted);
      await deliveries.showMissed(log.takeUnshown(), input.headerName);
    };
    const fail = (error: unknown) => stop.abort(error);
    const running: RunningListener = { ...host, signal, onListening, deliveries, fail };
    if (input.source.kind === "poll") await poll(input, input.source, running, log);
    else await receive(input, input.source, running);
    if (stop.signal.aborted) throw stop.signal.reason;
  } finally {
    await log.close();
  }
}

async function poll(
  input: ListenInput,
  { secret, service }: Extract<EventSource, { kind: "poll" }>,
  { clock, signal, view, onListening, onPoll, deliveries }: RunningListener,
  log: EventLog,
): Promise<void> {
  const poller = new Poller({
    service: { client: service.client, concurrency: service.concurrency, clock, signal },
    state: service.state,
    baseUrl: service.baseUrl,
    log: { path: input.logPath, isNew: log.isNew, isKnown: (id) => log.isKnown(id) },
    onEnded(job) {
      const event = syntheticEvent(job, clock.now());
      const body = Buffer.from(JSON.stringify(event));
      const header = signDelivery(secret, body, Math.floor(clock.now() / 1000));
      const rawHeaders = ["Content-Type", "application/json", input.headerName, header];
      return deliveries.accept(event, { rawHeaders, body }, { header, synthetic: true });
    },
    onProblem: view.onProblem,
    onPoll,
  });
  try {
    const resend = resender(deliveries, secret, { headerName: input.headerName, clock });
    await poller.run(() => onListening({ url: null, webhookId: null, secret, resend }));
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
