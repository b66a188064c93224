import { CatError } from "../../errors.ts";
import type { App } from "../app/app.ts";
import { markOf } from "./kept-names.ts";
import type { Kind } from "./words.ts";

/** Keeps the names that a list showed, for Tab. An error of the state is ignored: the list was printed. */
export async function keepNames(
  app: App,
  kind: Kind,
  names: readonly (readonly [name: string, about: string])[],
): Promise<void> {
  try {
    const { baseUrl } = await app.connection();
    const state = await app.state();
    state.marks.set(baseUrl, markOf(kind), JSON.stringify(names));
  } catch (error) {
    if (!(error instanceof CatError)) throw error;
  }
}
