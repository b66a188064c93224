/**
 * An integer with thousands separators: `1,240`. Done by hand, because `toLocaleString` loads 15 ms of
 * language data.
 */
export const grouped = (count: number): string => String(count).replace(/\B(?=(\d{3})+$)/g, ",");

/** A number of things: `1 row`, `1,240 rows`. */
export const counted = (count: number, thing: string): string =>
  `${grouped(count)} ${thing}${count === 1 ? "" : "s"}`;

/** A number of bytes for users, in the decimal units of file managers: `840 B`, `12.4 kB`, `1,204.0 MB`. */
export const byteText = (bytes: number): string => {
  if (bytes < 1000) return `${Math.round(bytes)} B`;
  if (bytes < 999_950) return `${(bytes / 1000).toFixed(1)} kB`;
  const [whole, tenth] = (bytes / 1_000_000).toFixed(1).split(".");
  return `${grouped(Number(whole))}.${tenth} MB`;
};
