// Unknown outcomes: batches that the service may or may not have carried out, about which the user decides.

import type { Clocks } from "../../clock.ts";
import { CatError } from "../../errors.ts";
import type { StoredBatch } from "../../state/batches.ts";
import { shownName } from "../words.ts";
import { isKeyAlive, isKeyExpired } from "./clocks.ts";

/** The batches, for the person who decides about them. */
export interface UnknownBatches {
  /** The files of their runs, as typed. */
  readonly file: string;
  /** When the first of them was sent, in Unix milliseconds. */
  readonly sentAt: number;
}

/** A decision about batches (at least one) whose outcome can no longer be learned. */
export interface OutcomeDecision<Question extends UnknownBatches, Choice extends string> {
  readonly batches: readonly StoredBatch[];
  readonly files: readonly string[];
  /** The findings of the flow about them. */
  readonly facts: Omit<Question, keyof UnknownBatches>;
  readonly now: Clocks;
  /** `--unknown`; undefined to ask the user. */
  readonly given: Choice | undefined;
  /** Asks the user; undefined without a terminal. */
  readonly ask: ((question: Question) => Promise<Choice>) | undefined;
  /** The message and the next step for a choice that is missing or not possible; null for any other. */
  readonly rejection: (
    question: Question,
    choice: Choice | undefined,
  ) => { message: string; hint: string } | null;
  readonly apply: (choice: Choice, batch: StoredBatch, at: number) => void;
}

/** Records the user's decision. Throws a CatError of type conflict without one, and while a batch may run. */
export async function settleUnknown<Question extends UnknownBatches, Choice extends string>({
  batches,
  files,
  facts,
  now,
  given,
  ask,
  rejection,
  apply,
}: OutcomeDecision<Question, Choice>): Promise<void> {
  const question = {
    ...facts,
    file: [...new Set(files.map(shownName))].join(", "),
    sentAt: Math.min(...batches.map(({ sentAt }) => sentAt)),
  } as Question;
  const isDoubtful = batches.some(
    (batch) => batch.state === "sent" && !isKeyAlive(batch, now) && !isKeyExpired(batch, now),
  );
  const choice = given ?? (isDoubtful ? undefined : await ask?.(question));
  const why = rejection(question, choice);
  if (why !== null) {
    const hint = isDoubtful && given === undefined ? wrongClock : why.hint;
    throw new CatError(why.message, { type: "conflict", code: "unknown_outcome", hint });
  }
  for (const [at, batch] of batches.entries()) apply(choice!, batch, at);
}

const wrongClock =
  "The clock of this machine or that of the service is wrong: one says that the service may still be working on them. Correct the clock and run the same command again, or choose with --unknown.";
