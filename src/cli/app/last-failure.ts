import { CatError } from "../../errors.ts";
import type { ExchangeLog } from "../../http/exchange-log.ts";

/** Why an attempt got no answer, by the error's code. What is not here, as an end of our own, says nothing of the service. */
const because: Readonly<Record<string, string>> = {
  unreachable: "cannot be reached",
  host_not_found: "cannot be found",
  connection_cut: "cuts the connection",
  attempt_timeout: "does not answer",
};

/** Knows what was wrong with the service at the latest attempt: a wait that runs out ends whatever is tried again in silence. */
export class LastFailure {
  #words: string | null = null;

  /** An attempt ended. */
  saw({ origin, status, error }: Pick<ExchangeLog, "origin" | "status" | "error">): void {
    if (status !== null) this.#words = status >= 500 || status === 429 ? `${origin} answers ${status}` : null;
    else if (error !== null && because[error] !== undefined) this.#words = `${origin} ${because[error]}`;
  }

  /** The error of a wait that ran out (`--timeout`), with what was wrong then; any other as it is. */
  toldWith(error: unknown): unknown {
    if (this.#words === null || !(error instanceof CatError) || error.code !== "wait_timeout") return error;
    const { type, code, hint } = error;
    return new CatError(`${error.message}: ${this.#words}`, { type, code, hint, cause: error });
  }
}
