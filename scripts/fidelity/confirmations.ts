import { existsSync, readFileSync } from "node:fs";
import type { Confirmations } from "./page.ts";

/** What a service has confirmed; null without the file. */
export const confirmations = (path: string): Confirmations | null =>
  existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as Confirmations) : null;
