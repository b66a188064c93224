import type { Client } from "../../../client/client.ts";
import type { ImportDeps, UnknownChoice } from "../import-input.ts";

/** What an import has at hand once its file was found in order: the client is there, and the signal ends with the user's patience too. */
export interface TakeUpDeps extends Omit<ImportDeps, "client" | "signal"> {
  client: Client;
  signal: AbortSignal;
  /** What the user says of calls of unknown outcome, told once: it answers the one question that was shown before. */
  unknown: () => UnknownChoice | undefined;
}
