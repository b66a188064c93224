import type { Marks } from "../../../state/marks.ts";
import type { ServiceIdentity } from "../../run/account.ts";
import { fromTheFuture, hearOf, isBelievable } from "../../run/clocks.ts";
import type { Service } from "../../service.ts";
import { shortDigest } from "../../short-digest.ts";

const firstExport =
  "No earlier export with --since last, this API key and these roles: exporting everything.";

type OnNote = (sentence: string) => Promise<void>;

/** Remembers when the last export of a selection began, per base URL and API key. */
export class LastExport {
  readonly #marks: Marks;
  readonly #baseUrl: string;
  readonly #name: string;

  /** `roles` are sorted; null for all. */
  constructor(marks: Marks, { baseUrl, keyFingerprint }: ServiceIdentity, roles: readonly string[] | null) {
    this.#marks = marks;
    this.#baseUrl = baseUrl;
    const selection = shortDigest(JSON.stringify({ roles }), 8).toString("hex");
    this.#name = `export.since ${keyFingerprint} ${selection}`;
  }

  /**
   * The start of the last export, in Unix milliseconds; null, with a note, before the first one, or if the time is in
   * the future. That one is removed, also for a run that stops: it may not be in the future any more when that is resumed.
   */
  async startedAt(service: Pick<Service, "client" | "signal">, onNote: OnNote): Promise<number | null> {
    const stored = this.#marks.get(this.#baseUrl, this.#name);
    if (stored !== null) {
      await hearOf(service);
      const time = Date.parse(stored);
      if (isBelievable(time, service.client)) return time;
      this.#marks.remove(this.#baseUrl, this.#name);
    }
    await onNote(stored === null ? firstExport : fromTheFuture(stored));
    return null;
  }

  /** Records an export whose output is safely written. An export that began later keeps its mark. */
  record(startedAt: number): void {
    this.#marks.raise(this.#baseUrl, this.#name, new Date(startedAt).toISOString());
  }
}
