import type { Lane } from "./lane.ts";
import type { Ending, Running } from "./program.ts";
import type { Trouble } from "./trouble.ts";

/** How a process ended that met faults, and where it was stopped; null where nothing stopped it. */
export interface MetTrouble<Step extends string> {
  readonly ending: Ending;
  readonly stoppedAt: Step | null;
  readonly restarts: number;
  /** How the second process ended, if the command was started twice. */
  readonly other: Ending | null;
}

/** Starts a process and disturbs it; `atItsEnd` is the step of a process that has little left to do. */
export async function meetTrouble<Step extends string>(
  {
    faults,
    failsAfterWork,
    kill,
    orAtItsEnd,
    restart,
    gateway,
    skew,
    twice,
    sleep,
    overtaken,
  }: Trouble<Step>,
  { service, gate }: Lane<Step>,
  {
    start,
    atItsEnd,
    starting,
    othersWrite = async () => {},
  }: { start: () => Running; atItsEnd: Step; starting: Step; othersWrite?: () => Promise<void> },
): Promise<MetTrouble<Step>> {
  for (const fault of faults) await service.fault(fault);
  let failures = failsAfterWork?.times ?? 0;
  let pages = gateway?.times ?? 0;
  let requests = 0;
  let asleep: "awake" | "response lost" | "slept" = "awake";
  let second: Running | null = null;
  const startSecond = () => {
    second ??= start();
  };
  let isOvertaken = false;
  let seen = 0;
  let stoppedAt: Step | null = null;
  let isOver = false;
  let restarts = 0;
  const killNow = () => {
    if (isOver || stoppedAt !== null) return;
    stoppedAt = gate.lastStep ?? starting;
    running.kill(kill.signal);
  };
  gate.lastStep = null;
  gate.treat = (step) => {
    if (skew) gate.dateAheadMs = requests >= skew.from && requests < skew.to ? skew.aheadMs : 0;
    requests++;
    if (twice?.step === step) setTimeout(startSecond, twice.waitMs);
    if (stoppedAt !== null || isOver) return null;
    if (sleep?.step === step && asleep === "awake") {
      asleep = "response lost";
      return "fails after work";
    }
    if (sleep?.step === step && asleep === "response lost") {
      asleep = "slept";
      const before = () => service.advance(sleep.nightMs);
      return { opensInMs: 2_000, before, meanwhile: () => running.kill("SIGUSR2") };
    }
    if (overtaken?.step === step && !isOvertaken) {
      isOvertaken = true;
      return { opensInMs: 2_000, before: othersWrite, meanwhile: () => {} };
    }
    if (gateway?.step === step && pages-- > 0) return gateway;
    const counts = "step" in kill && (kill.step === null || kill.step === step);
    if (counts && ++seen === kill.nth) return { ...kill, kill: killNow };
    if (orAtItsEnd && step === atItsEnd) return { at: "answered", waitMs: 5, kill: killNow };
    return step === failsAfterWork?.step && failures-- > 0 ? "fails after work" : null;
  };
  const running = start();
  if (twice?.step === null) startSecond();
  const timers = "afterMs" in kill ? [setTimeout(killNow, kill.afterMs)] : [];
  let restarted: Promise<void> = Promise.resolve();
  if (typeof restart === "object" && restart !== null) {
    const again = () => {
      restarts++;
      restarted = service.restart();
    };
    timers.push(setTimeout(again, restart.afterMs));
  }
  const ending = await running.ended;
  if (twice) startSecond();
  const other = twice ? await second!.ended : null;
  isOver = true;
  gate.dateAheadMs = 0;
  for (const timer of timers) clearTimeout(timer);
  await restarted;
  return { ending, stoppedAt, restarts, other };
}
