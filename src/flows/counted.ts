import { grouped } from "./grouped.ts";

/** A number of things: `1 row`, `1,240 rows`. */
export const counted = (count: number, thing: string): string =>
  `${grouped(count)} ${thing}${count === 1 ? "" : "s"}`;
