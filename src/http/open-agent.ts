import { Agent } from "undici";
import { lookup, lookupAllowed } from "./local-names.ts";

/** Direct connections, so many per origin at most, to addresses that are allowed; opens nothing yet. */
export const openAgent = (connections: number, isAllowed?: (address: string) => boolean): Agent =>
  new Agent({
    connections,
    connect: { lookup: isAllowed === undefined ? lookup : lookupAllowed(isAllowed) },
  });
