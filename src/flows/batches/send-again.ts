import type { ImportMode, OnImageError } from "../../contract/value-sets.ts";
import type { StoredCall } from "../../state/calls.ts";
import type { OtherRun } from "../import/resume/other-runs.ts";
import type { TakeUpDeps } from "../import/resume/take-up-deps.ts";
import type { RunAtHand } from "../runs/run-at-hand.ts";
import { Journal } from "./journal.ts";
import { isKeyAlive, readClocks } from "./key-life.ts";
import { sendCalls } from "./send.ts";
import type { ReadyCall } from "./sent-batch.ts";

/**
 * The calls of unknown outcome among `calls`, with the bytes and the key of the first time. Where the service has
 * forgotten the key (and the user, or the mode, allows it) they get a new one.
 */
export async function* sendAgain(
  { state, account }: RunAtHand,
  calls: readonly StoredCall[],
  deps: Pick<TakeUpDeps, "client" | "clock" | "newKey" | "signal">,
): AsyncGenerator<ReadyCall> {
  const { client, clock, newKey } = deps;
  for (const call of calls) {
    if (call.state !== "sent") continue;
    const { run, index, rows, lines, bytes } = call;
    const body = state.calls.body(run, index);
    let { idempotencyKey } = call;
    if (!isKeyAlive(call, await readClocks(deps))) {
      idempotencyKey = newKey();
      const references = state.calls.references(run, index);
      const memo = state.calls.memo(run, index);
      state.calls.dropped(run, index);
      state.calls.begin(account, {
        ...{ run, index, idempotencyKey, rows, lines, references, memo, body, exclusive: false },
        ...{ sentAt: clock.now(), sentAtService: client.serviceNow() },
      });
    }
    yield { index, rows, lines, bytes, body, idempotencyKey, again: true };
  }
}

/**
 * Sends calls of unknown outcome of an earlier run, with the options that it had, and nothing else of it. Throws why one of
 * them is still unknown; one that is refused was not carried out.
 */
export async function sendAsTheyWere(
  at: RunAtHand,
  { run: earlier, calls: some }: OtherRun,
  concurrency: number,
  { client, clock, newKey, signal }: TakeUpDeps,
): Promise<void> {
  const run = { ...at, id: earlier.id };
  const isOne = ({ index }: StoredCall) => some.some((one) => one.index === index);
  const calls = () => run.state.calls.of(run.id).filter(isOne);
  const { mode, onImageError } = earlier.options as { mode: ImportMode; onImageError: OnImageError };
  const journal = new Journal(run, run.state.calls.of(run.id), {
    clock,
    newKey,
    serviceNow: client.serviceNow,
    file: earlier.file,
    mode,
    guarded: false,
  });
  const { stopped } = await sendCalls(sendAgain(run, calls(), { client, clock, newKey, signal }), {
    ...{ client, clock, signal, concurrency, mode, onImageError, journal },
    onAccepted: () => {},
  });
  if (stopped !== undefined && calls().some((call) => call.state === "sent")) throw stopped;
}
