import type { Client } from "../../../src/client/client.ts";
import type { State } from "../../../src/state/state.ts";

/** Thrown when the process is killed: from then on it cannot reach the service or the disk. */
export class Killed extends Error {
  override readonly name = "Killed";
}

/**
 * A process that is killed at its n-th step, just before or after a request or a state change. After that,
 * every function throws and does nothing.
 */
export class KillableProcess {
  #left: number;
  #steps = 0;
  #over = false;

  constructor(steps: number) {
    this.#left = steps;
  }

  /** Number of steps so far. */
  get steps(): number {
    return this.#steps;
  }

  /** Whether it was killed before it finished. */
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

  /** Wraps an object: each function counts one step before and one after. */
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
