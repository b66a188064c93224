import type { Marks } from "../../../state/marks.ts";
import type { ServiceIdentity } from "../../runs/service-identity.ts";
import { shortDigest } from "../../short-digest.ts";

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

  /** The service's time at the start of the last export, in Unix milliseconds; null before the first one. */
  get startedAt(): number | null {
    const time = Date.parse(this.#marks.get(this.#baseUrl, this.#name) ?? "");
    return Number.isNaN(time) ? null : time;
  }

  /** Records an export whose output is safely written. An export that began later keeps its mark. */
  record(startedAt: number): void {
    this.#marks.raise(this.#baseUrl, this.#name, new Date(startedAt).toISOString());
  }
}
