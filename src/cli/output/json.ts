import { visibleInJson } from "./visible.ts";

/** A value as one line of JSON with its line end; control characters that JSON would let through are escaped. */
export const jsonLine = (value: unknown): string => `${visibleInJson(JSON.stringify(value) ?? "null")}\n`;
