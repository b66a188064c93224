import { randomUUID } from "node:crypto";
import type { State } from "../../src/state/state.ts";

/** A new account at a base URL, which a key of its own leads to. */
export const newAccount = ({ accounts }: Pick<State, "accounts">, baseUrl: string): number =>
  accounts.createFor(baseUrl, randomUUID());
