import type { World } from "../world/world.ts";

/** One route under `/_mock`. */
export interface ControlRoute {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** Starts with `/_mock`; parameters are in braces. */
  readonly path: string;
  /**
   * Returns the value of the response, or its JSON as a stream. Rejects a request by throwing a `Refusal`.
   */
  readonly work: (world: World, body: Buffer, params: Readonly<Record<string, string>>) => unknown;
}
