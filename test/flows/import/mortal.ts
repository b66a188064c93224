import type { Client } from "../../../src/client/client.ts";
import type { State } from "../../../src/state/state.ts";

/** The end of a process: from then on nothing of it reaches the service or the disk. */
export class Killed extends Error {
  override readonly name = "Killed";
}

/**
 * A life that ends at its n-th step, each a moment before or after a request or a change of the state. A process that was
 * killed says no more: what it calls afterwards does nothing and throws.
 */
export class Life {
  #left: number;
  #steps = 0;
  #over = false;

  constructor(steps: number) {
    this.#left = steps;
  }

  /** How many steps it had. */
  get steps(): number {
    return this.#steps;
  }

  /** Whether it ended before its work did. */
  get isOver(): boolean {
    return this.#over;
  }

  readonly client = (client: Client): Client => this.#bound(client);
  readonly state = (state: State): State => this.#bound(state);

  #step(): void {
    if (!this.#over) {
      this.#steps++;
      this.#over = --this.#left < 0;
    }
    if (this.#over) throw new Killed("killed");
  }

  /** The same thing, whose every function is a step before and a step after. */
  #bound<Thing extends object>(thing: Thing): Thing {
    return new Proxy(thing, {
      get: (target, name) => {
        const value = Reflect.get(target, name) as unknown;
        if (typeof value === "object" && value !== null) return this.#bound(value);
        if (typeof value !== "function") return value;
        return (...args: unknown[]) => {
          const call = () => Reflect.apply(value, target, args) as unknown;
          if (name === "paginate" || name === "download") return this.#stream(call as never);
          this.#step();
          const result = call();
          if (!(result instanceof Promise)) return this.#after(result);
          return result.then((answer: unknown) => this.#after(answer));
        };
      },
    });
  }

  async *#stream(call: () => AsyncIterable<unknown>): AsyncGenerator<unknown> {
    this.#step();
    for await (const part of call()) yield this.#after(part);
  }

  #after<Result>(result: Result): Result {
    this.#step();
    return result;
  }
}
