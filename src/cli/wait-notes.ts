import type { Clock } from "../clock.ts";
import type { OnWait, WaitReason } from "../http/wait.ts";

/** A shorter wait is over before it is read. */
const worthTellingMs = 2_000;

const because: Readonly<Record<WaitReason, string>> = {
  rate_window: "this minute's requests are used up",
  rate_limited: "the service asks for a pause",
  in_progress: "an earlier attempt of the same request is still running",
  server_error: "the service failed, and is asked again",
  network: "the service cannot be reached, and is tried again",
};

/** Tells people of waits that last, once for all requests that wait for the same thing. */
export function waitNotes(clock: Clock, note: (text: string) => Promise<void>): OnWait {
  const toldUntil = new Map<WaitReason, number>();
  return ({ reason, ms }) => {
    const now = clock.now();
    if (ms < worthTellingMs || now < (toldUntil.get(reason) ?? 0)) return;
    toldUntil.set(reason, now + ms);
    void note(`Waiting ${Math.ceil(ms / 1000)} s: ${because[reason]}.`);
  };
}
