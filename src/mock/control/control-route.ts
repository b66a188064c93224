import type { World } from "../world/world.ts";

/** One route under `/_mock`. */
export interface ControlRoute {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** Begins with `/_mock`; parameters in braces. */
  readonly path: string;
  /** Gives the answer's value, or its JSON as a stream of pieces; refuses by throwing a `Refusal`. */
  readonly work: (world: World, body: Buffer, params: Readonly<Record<string, string>>) => unknown;
}
