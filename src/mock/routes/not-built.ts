import { Refusal } from "../refusal.ts";

/** What an operation answers whose work is not built yet: everything around it holds all the same. */
export const notImplemented = (): never => {
  throw new Refusal("not_implemented", "the mock does not do this yet");
};
