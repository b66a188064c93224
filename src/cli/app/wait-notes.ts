import type { Clock } from "../../clock.ts";
import type { OnWait, WaitReason } from "../../http/wait.ts";

/** A shorter wait is over before it is read. */
const worthTellingMs = 2_000;

/** So long after a pause of an outage the attempts that follow are not told of one by one. */
const quietMs = 60_000;

const because: Readonly<Record<Exclude<WaitReason, "outage">, string>> = {
  rate_window: "this minute's requests are used up",
  rate_limited: "the service asks for a pause",
  in_progress: "an earlier attempt of the same request is still running",
  server_error: "the service failed, and is asked again",
  network: "the service cannot be reached, and is tried again",
};

/** Tells people of waits that last, once for all requests that wait for the same thing; of an outage once in all. */
export function waitNotes(clock: Clock, note: (text: string) => Promise<void>): OnWait {
  const toldUntil = new Map<WaitReason, number>();
  let outageSince: number | null = null;
  return ({ reason, ms, since = clock.now() }) => {
    const now = clock.now();
    if (reason === "outage") {
      toldUntil.set("network", now + ms + quietMs).set("server_error", now + ms + quietMs);
      if (since === outageSince) return;
      outageSince = since;
      void note(`The service has not answered since ${timeOfDay(since)}; trying again.`);
      return;
    }
    if (ms < worthTellingMs || now < (toldUntil.get(reason) ?? 0)) return;
    toldUntil.set(reason, now + ms);
    void note(`Waiting ${Math.ceil(ms / 1000)} s: ${because[reason]}.`);
  };
}

/** `09:04:30`, as the clock on the user's wall shows it. */
const timeOfDay = (time: number): string => new Date(time).toTimeString().slice(0, 8);
