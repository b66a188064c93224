import { CatError } from "../../errors.ts";
import type { ExchangeLog } from "../../http/exchange-log.ts";

/**
 * The reasons for a missing response, by error code. Other errors, such as an abort by the CLI, reveal nothing
 * about the service.
 */
const because: Readonly<Record<string, string>> = {
  unreachable: "cannot be reached",
  host_not_found: "cannot be found",
  proxy_unreachable: "cannot be reached, because its proxy cannot",
  connection_cut: "closes the connection",
  attempt_timeout: "does not respond",
};

/**
 * Remembers the failure of the latest attempt. Retries are silent, so a timeout would otherwise hide the
 * cause.
 */
export class LastFailure {
  #words: string | null = null;

  /** Records the end of an attempt. */
  record({ origin, status, error }: Pick<ExchangeLog, "origin" | "status" | "error">): void {
    if (status !== null)
      this.#words = status >= 500 || status === 429 ? `${origin} responds with ${status}` : null;
    else if (error !== null && because[error] !== undefined) this.#words = `${origin} ${because[error]}`;
  }

  /**
   * Adds the failure to the error of a wait that timed out (`--timeout`); other errors are returned
   * unchanged.
   */
  addTo(error: unknown): unknown {
    if (this.#words === null || !(error instanceof CatError) || error.code !== "wait_timeout") return error;
    const { type, code, hint } = error;
    return new CatError(`${error.message}: ${this.#words}`, { type, code, hint, cause: error });
  }
}
