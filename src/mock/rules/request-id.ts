import { requestIdPattern } from "../../contract/limits.ts";
import type { Random } from "../seed/random.ts";

/**
 * Assigns request IDs: a valid one from the client is echoed, otherwise a new one is made (Cross-cutting rule
 * 7).
 */
export class RequestIds {
  readonly #prefix: string;
  #count = 0;

  constructor(random: Random) {
    this.#prefix = `req_${random.text(8)}_`;
  }

  of(header: string | string[] | undefined): string {
    return typeof header === "string" && requestIdPattern.test(header) ? header : this.next();
  }

  next(): string {
    return this.#prefix + ++this.#count;
  }
}
