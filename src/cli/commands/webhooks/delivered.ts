import { firstLine, longestLine } from "../../../flows/listen/forward.ts";
import { grouped } from "../../../flows/words.ts";
import type { PostFailure, PostOutcome } from "../../../http/post.ts";
import type { App } from "../../app/app.ts";
import { ExitCode } from "../../context/exit.ts";
import { namedForm } from "../../resources/named-form.ts";

/** One event that was sent to a handler, and its response. */
export interface Delivered {
  readonly id: string;
  readonly type: string;
  readonly url: string;
  readonly status: number | null;
  /** The first line of the response, or why there is none. */
  readonly response: string;
  readonly ms: number;
  /** Why there is no response. */
  readonly failure?: PostFailure;
}

export const toDelivered = (id: string, type: string, url: URL, outcome: PostOutcome): Delivered => ({
  ...{ id, type, url: url.href },
  status: outcome.status,
  response: outcome.status === null ? outcome.why : firstLine(outcome.text).slice(0, longestLine),
  ms: outcome.ms,
  ...(outcome.status === null && { failure: outcome.failure }),
});

/** The form of deliveries in a list. */
export const deliveredForm = namedForm<Delivered>(
  [
    { name: "id", value: ({ id }) => id },
    { name: "type", value: ({ type }) => type },
    { name: "url", value: ({ url }) => url, only: "csv" },
    { name: "status", value: ({ status }) => status ?? "none" },
    { name: "response", value: ({ response }) => response },
    { name: "ms", value: ({ ms }) => ms, only: "csv" },
  ],
  ["id", "type", "url", "status", "response", "ms"],
);

const isSuccess = ({ status }: Delivered): boolean => status !== null && status >= 200 && status < 300;

/** Sets the exit status by the handlers' responses: 7 if none could be reached, 8 if some failed. */
export async function reportDelivered(app: App, delivered: readonly Delivered[]): Promise<void> {
  const failed = delivered.filter((one) => !isSuccess(one)).length;
  if (failed === 0) return;
  const isReached = delivered.some(({ failure }) => failure !== "unreachable");
  app.exit = isReached ? ExitCode.partial : ExitCode.unavailable;
  const isSilent = delivered.every(({ status }) => status === null);
  const which = `${grouped(failed)} of ${grouped(delivered.length)} deliveries`;
  await app.io.note(
    !isReached
      ? "The handler cannot be reached. Check that it runs, and its URL."
      : isSilent
        ? `The handler did not respond to ${which}. It has 10 s: respond first, and work afterwards.`
        : `The handler did not accept ${which}. Check its output, and run the command again.`,
  );
}
