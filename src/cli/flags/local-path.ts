import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import type { Argument, Command, Option } from "commander";
import { isBucketAddress } from "../../flows/bucket/address.ts";
import { shellWord } from "../../shell-word.ts";
import { UsageError } from "../context/errors.ts";

export const pathPlaceholder = /\b(?:FILE|FOLDER|DIR|PHOTO|DECISIONS|PLAN|OUT)\b/;

/** The arguments and options that take `s3://` as well as a path. */
const takingBuckets = new WeakSet<Argument | Option>();

/** Has an argument or an option take `s3://` as well as a path. */
export function takeBuckets<Place extends Argument | Option>(place: Place): Place {
  takingBuckets.add(place);
  return place;
}

/** A drive letter such as `C:` is not a scheme. */
const scheme = /^\s*([a-z][a-z0-9+.-]+:\/\/?)/i;

/** Throws UsageError for an address such as `s3://bucket/x`, whose rest may be secret; not `./s3://x`. */
export function rejectAddress(text: string, param: string): void {
  const written = text.trim();
  const host = /^[a-z\d.-]+(?=\/)/i.exec(written)?.[0].toLowerCase();
  // Copied without its start; a folder with such a name is written as ./docs.google.com.
  const isOnline = host !== undefined && onlineSheets.some(([hosts]) => hosts.test(host));
  const name = isOnline ? host : scheme.exec(text)?.[1]?.toLowerCase();
  if (name === undefined) return;
  throw new UsageError(`${param} must be a path on this computer, not an address (${name})`, {
    code: "not_a_path",
    param,
    hint: hintFor(isOnline ? `https://${written}` : written),
  });
}

/** Where sheets are edited in a browser, and how a sheet is downloaded there. */
const onlineSheets: readonly (readonly [host: RegExp, program: string, menu: string])[] = [
  [/^(?:docs|drive|sheets)\.google\.com$/, "Google Sheets", "File > Download > Microsoft Excel (.xlsx)"],
  [
    /^(?:1drv\.ms|(?:.+\.)?(?:sharepoint\.com|live\.com|office\.com|officeapps\.live\.com))$/,
    "Excel",
    "File > Save As > Download a Copy",
  ],
  [/^(?:.+\.)?dropbox\.com$/, "Dropbox", "Download"],
  [/^(?:.+\.)?airtable\.com$/, "Airtable", "Download CSV"],
];

/** The next step. The rest of an address may hold credentials, and is not shown. */
function hintFor(address: string): string {
  const host = /^https?:/i.test(address) && URL.canParse(address) ? new URL(address).hostname : "";
  const online = onlineSheets.find(([hosts]) => hosts.test(host));
  if (online === undefined) return `Use a path, for example ${shellWord(pathIn(address))}.`;
  const [, program, menu] = online;
  return `Download it first (in ${program}: ${menu}), and use the file, for example ./products.xlsx.`;
}

/** The path that the user may have meant. */
function pathIn(address: string): string {
  try {
    if (/^file:/i.test(address)) return fileURLToPath(address);
    const { host, pathname } = new URL(address);
    return `./${basename(decodeURIComponent(pathname)) || host}`;
  } catch {
    return "./images";
  }
}

/** Has a command reject addresses in its flags that take a path, and no bucket. */
export function settlePaths(command: Command): void {
  for (const option of command.options) {
    if (!pathPlaceholder.test(option.flags)) continue;
    command.on(`option:${option.name()}`, (value) => {
      if (typeof value !== "string" || (takingBuckets.has(option) && isBucketAddress(value))) return;
      rejectAddress(value, option.long ?? option.flags);
    });
  }
}

export function rejectAddressArguments({ registeredArguments, args }: Command): void {
  args.forEach((value, at) => {
    const argument = registeredArguments[at] ?? registeredArguments.at(-1);
    if (argument !== undefined && takingBuckets.has(argument) && isBucketAddress(value)) return;
    const name = argument?.name() ?? "";
    if (pathPlaceholder.test(name)) rejectAddress(value, name);
  });
}
