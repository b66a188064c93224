// The words of messages: numbers, sizes and lists of names.

/**
 * An integer with thousands separators: `1,240`. Done by hand, because `toLocaleString` loads 15 ms of
 * language data.
 */
export function grouped(count: number): string {
  const digits = String(Math.abs(count));
  const groups = [
    digits.slice(0, digits.length % 3),
    ...(digits.slice(digits.length % 3).match(/.{3}/g) ?? []),
  ];
  return `${count < 0 ? "-" : ""}${groups.filter((group) => group !== "").join(",")}`;
}

/** A number of things: `1 row`, `1,240 rows`. */
export const counted = (count: number, thing: string): string =>
  `${grouped(count)} ${thing}${count === 1 ? "" : "s"}`;

/** The counts above zero with their names: `2 created, 1 failed`. */
export const countList = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${grouped(count)} ${name}`)
    .join(", ");

/** A number of bytes for users, in the decimal units of file managers: `840 B`, `12.4 kB`, `1,204.0 MB`. */
export const byteText = (bytes: number): string => {
  if (bytes < 1000) return `${Math.round(bytes)} B`;
  if (bytes < 999_950) return `${(bytes / 1000).toFixed(1)} kB`;
  const [whole, tenth] = (bytes / 1_000_000).toFixed(1).split(".");
  return `${grouped(Number(whole))}.${tenth} MB`;
};

/** Names in a sentence: `a`, `a or b`, `a, b or c`; empty without names. */
export const series = (names: readonly string[], conjunction: "and" | "or"): string =>
  names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} ${conjunction} ${names.at(-1)}`;

/** The first names, and how many more there are: `a, b and 3 more`. */
export const listFirst = (names: readonly string[], count: number): string =>
  names.length <= count
    ? names.join(", ")
    : `${names.slice(0, count).join(", ")} and ${grouped(names.length - count)} more`;

/** The name of a file in messages: as typed, or `stdin` for `-`. */
export const shownName = (file: string): string => (file === "-" ? "stdin" : file);
