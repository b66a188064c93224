import { counted } from "../../src/flows/words.ts";

/** Minutes as they are said: `under 1 min`, `17 min`, `2 h 47 min`, `24 days`. */
export function duration(minutes: number): string {
  if (minutes < 1) return "under 1 min";
  const whole = Math.ceil(minutes);
  if (whole < 60) return `${whole} min`;
  if (whole >= 48 * 60) return counted(Math.ceil(whole / 1_440), "day");
  const rest = whole % 60;
  return `${Math.floor(whole / 60)} h${rest === 0 ? "" : ` ${rest} min`}`;
}

const units = ["B", "kB", "MB", "GB", "TB"];

/** Bytes with two or three digits: `640 MB`, `6.4 GB`. */
export function size(bytes: number): string {
  const unit = Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3));
  const count = bytes / 1000 ** unit;
  return `${Number(count.toPrecision(count < 10 ? 2 : 3))} ${units[unit]}`;
}

export type Row = readonly string[];

export const table = (header: Row, rows: readonly Row[]): string[] => [
  `| ${header.join(" | ")} |`,
  `|${header.map(() => "---").join("|")}|`,
  ...rows.map((cells) => `| ${cells.join(" | ")} |`),
];
