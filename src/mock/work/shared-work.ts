import { EndedError, Life } from "./life.ts";

/** Work shared by several readers; it continues while at least one is waiting. */
export class SharedWork<Result> {
  readonly #life = new Life();
  readonly #result: Promise<Result>;
  #waiting = 0;
  #isLost = false;

  /** `begin` must reject when the given life ends. */
  constructor(begin: (life: Life) => Promise<Result>) {
    this.#result = begin(this.#life);
    this.#result.catch(() => {
      this.#isLost = true;
    });
  }

  /** Whether the work failed or was canceled. */
  get isLost(): boolean {
    return this.#isLost || this.#life.ended;
  }

  /** The result; rejects with EndedError when `life` ends. */
  resultFor(life: Life): Promise<Result> {
    this.#waiting++;
    return new Promise((resolve, reject) => {
      const stay = life.onEnd(() => {
        if (--this.#waiting === 0) this.#life.end();
        reject(new EndedError());
      });
      this.#result.then(resolve, reject).finally(stay);
    });
  }
}
