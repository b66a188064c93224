import { randomUUID } from "node:crypto";
import type { State } from "../../src/state/state.ts";

/** A new account at a base URL, with its own key. */
export const newAccount = ({ accounts }: Pick<State, "accounts">, baseUrl: string): number =>
  accounts.createFor(baseUrl, randomUUID());
