import { CatError } from "../../../errors.ts";
import { counted, grouped } from "../../../flows/words.ts";
import type { App } from "../../app/app.ts";

const prefix = "agent-generations ";

/** Counts the images that agents generate on a day (UTC), across restarts, in the state of the profile. */
export class DailyLimit {
  readonly #app: App;
  readonly #most: number;

  constructor(app: App, most: number | null) {
    this.#app = app;
    this.#most = most ?? Number.MAX_SAFE_INTEGER;
  }

  /** Throws if so many images are more than what is left of today. */
  async check(images: number): Promise<void> {
    const { state, baseUrl, name } = await this.#place();
    const used = Number(state.marks.get(baseUrl, name) ?? 0);
    if (used + images > this.#most) throw tooMany(images, this.#most - used, this.#most);
  }

  /** Counts images that are about to be generated. Those that fail stay counted. */
  async take(images: number): Promise<void> {
    const { state, baseUrl, name } = await this.#place();
    for (const { name: other } of state.marks.list(baseUrl, prefix))
      if (other < name) state.marks.remove(baseUrl, other);
    if (state.marks.add(baseUrl, name, images, this.#most)) return;
    const left = this.#most - Number(state.marks.get(baseUrl, name) ?? 0);
    throw tooMany(images, left, this.#most);
  }

  async #place() {
    const [state, { baseUrl }] = [await this.#app.state(), await this.#app.connection()];
    const day = new Date(this.#app.context.clock.now()).toISOString().slice(0, 10);
    return { state, baseUrl, name: `${prefix}${day}` };
  }
}

const tooMany = (images: number, left: number, most: number): CatError =>
  new CatError(
    `${counted(images, "image")} requested; ${grouped(Math.max(0, left))} of ${grouped(most)} left today (--max-generations of cat mcp). Nothing was queued`,
    {
      type: "input",
      code: "too_many_generations",
      hint: "Request fewer images, continue after midnight UTC, or ask a person to raise --max-generations.",
    },
  );
