import { CatError } from "../../errors.ts";
import type { StoredBatch } from "../../state/batches.ts";
import type { RunAtHand } from "../runs/run-at-hand.ts";
import type { Service } from "../service.ts";
import type { BatchOperation } from "./batch-operation.ts";
import { Journal, type JournalOptions } from "./journal.ts";
import { isKeyAlive, keyFrom, readClocks } from "./key-life.ts";
import { sendBatches } from "./send.ts";
import type { ReadyBatch } from "./sent-batch.ts";

/**
 * The batches with an unknown outcome among `batches`, with the original bytes and key. If the service has
 * forgotten the key, they get a new one, provided the user or the operation allows that.
 */
export async function* sendAgain(
  { state, account }: RunAtHand,
  batches: readonly StoredBatch[],
  service: Pick<Service, "client" | "clock" | "newKey" | "signal">,
  { renewsKeys = true }: { renewsKeys?: boolean } = {},
): AsyncGenerator<ReadyBatch> {
  const { client, clock, newKey } = service;
  for (const batch of batches) {
    if (batch.state !== "sent") continue;
    const { run, index, rows, lines, bytes } = batch;
    const body = state.batches.body(run, index);
    let { idempotencyKey, sentAt, sentAtService } = batch;
    if (!isKeyAlive(batch, await readClocks(service))) {
      // What costs money each time is never sent under another key: the same command settles it first.
      if (!renewsKeys) throw expiredMeanwhile();
      [idempotencyKey, sentAt, sentAtService] = [newKey(), clock.now(), client.serviceNow()];
      const references = state.batches.references(run, index);
      const memo = state.batches.memo(run, index);
      state.batches.dropped(run, index);
      state.batches.begin(account, {
        run,
        index,
        idempotencyKey,
        rows,
        lines,
        references,
        memo,
        body,
        exclusive: false,
        sentAt,
        sentAtService,
      });
    }
    const from = keyFrom({ sentAt, sentAtService });
    yield { index, rows, lines, bytes, body, idempotencyKey, keyFrom: from, again: true };
  }
}

const expiredMeanwhile = (): CatError =>
  new CatError("a request without a response was not sent again: its idempotency key has expired meanwhile", {
    type: "timeout",
    code: "key_expired",
    hint: "Run the same command again. Check the clocks if it happens again.",
  });

/**
 * Sends `some` batches with an unknown outcome of an earlier run again, and nothing else of that run. Throws the
 * error if the outcome of one is still unknown; a rejected one was not carried out.
 */
export async function sendAsTheyWere(
  run: RunAtHand,
  some: readonly StoredBatch[],
  service: Service,
  { operation, ...listing }: { operation: BatchOperation } & Omit<JournalOptions, "guarded">,
): Promise<void> {
  const stored = () => run.state.batches.of(run.id);
  const isOne = ({ index }: StoredBatch) => some.some((one) => one.index === index);
  const batches = () => stored().filter(isOne);
  const { clock, signal, concurrency } = service;
  const { stopped } = await sendBatches(sendAgain(run, batches(), service), {
    operation,
    clock,
    signal,
    concurrency,
    journal: new Journal(run, stored(), service, { ...listing, guarded: false }),
    onAccepted: () => {},
  });
  if (stopped !== undefined && batches().some((batch) => batch.state === "sent")) throw stopped;
}
