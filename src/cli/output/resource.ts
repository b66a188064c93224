import { visible } from "./visible.ts";

/** A single resource for people: one field a line, names in a column of their own; lists one entry a line. */
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
  if (!Array.isArray(value)) return [inline(value)];
  return value.length === 0 ? ["-"] : value.map(inline);
}

/** A value on one line; an object as its values, since its fields are the same from entry to entry. */
function inline(value: unknown): string {
  if (typeof value === "string") return visible(value);
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return visible(JSON.stringify(value));
  return Object.values(value).map(inline).join("  ");
}
