import { visible } from "./visible.ts";

/**
 * A single resource for people: one line per field, per entry of a list and per field of an object, after a
 * column of names.
 */
export function resourceLines(resource: object, heading: (text: string) => string): string {
  const fields = Object.entries(resource);
  const width = Math.max(0, ...fields.map(([name]) => visible(name).length));
  return fields
    .flatMap(([name, value]) =>
      valueLines(value).map((line, index) => {
        const label = (index === 0 ? visible(name) : "").padEnd(width);
        return `${`${heading(label)}  ${line}`.trimEnd()}\n`;
      }),
    )
    .join("");
}

function valueLines(value: unknown): string[] {
  if (value === null || value === undefined) return ["-"];
  if (Array.isArray(value)) return value.length === 0 ? ["-"] : value.map(inline);
  if (typeof value !== "object") return [inline(value)];
  const fields = Object.entries(value);
  return fields.length === 0 ? ["-"] : fields.map(([name, one]) => `${visible(name)} ${inline(one ?? "-")}`);
}

/**
 * A value on one line. An object, as an entry of a list, is shown without field names, which all entries
 * share.
 */
function inline(value: unknown): string {
  if (typeof value === "string") return visible(value);
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return visible(JSON.stringify(value));
  return Object.values(value).map(inline).join("  ");
}
