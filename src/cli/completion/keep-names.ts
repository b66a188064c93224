import { CatError } from "../../errors.ts";
import type { App } from "../app/app.ts";
import { newProfileNote } from "../app/new-profile-note.ts";
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
    // The ledger of a mistyped profile is not created by a list, because then no import would report it.
    if ((await newProfileNote(app)) !== null) return;
    const state = await app.state();
    state.marks.set(baseUrl, markOf(kind), JSON.stringify(names));
  } catch (error) {
    if (!(error instanceof CatError)) throw error;
  }
}
