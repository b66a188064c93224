import { visibleInJson } from "./visible.ts";

/** A value as one line of JSON, line end included; control characters that JSON allows are escaped too. */
export const jsonLine = (value: unknown): string => `${visibleInJson(JSON.stringify(value) ?? "null")}\n`;
