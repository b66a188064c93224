import { EndedError, Life } from "./life.ts";

/** Work that several may wait for: it goes on while one of them is left. */
export class SharedWork<Result> {
  readonly #life = new Life();
  readonly #result: Promise<Result>;
  #waiting = 0;
  #isLost = false;

  /** `begin` is to stop with the life that it is given, by an error. */
  constructor(begin: (life: Life) => Promise<Result>) {
    this.#result = begin(this.#life);
    this.#result.catch(() => {
      this.#isLost = true;
    });
  }

  /** Whether nothing comes of it: it has failed, or nobody was left. */
  get isLost(): boolean {
    return this.#isLost || this.#life.ended;
  }

  /** The result for somebody who waits no longer than this life: at its end it rejects with EndedError. */
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
