import { isDeviceName } from "../../../contract/image-file.ts";
import { archiveLimits } from "./archive-limits.ts";

/** Characters that cannot be seen, or that make a name look like another one. */
const hidden = /[\p{Cc}\p{Cs}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/u;

/**
 * Why an entry with this name must not be extracted, for users; null if it may. The service's names are file names, so none of
 * these can come from an honest export. Names that are merely unusual on Windows are changed instead (`portablePath`).
 */
export function nameProblem(name: string): string | null {
  if (hidden.test(name)) return "has invisible characters in its name";
  if (name.includes("\ufffd")) return "has a name that is not valid text";
  if (name.includes("\\")) return "has a backslash in its name";
  if (name.startsWith("/")) return "is an absolute path";
  if (/^[a-z]:/i.test(name)) return "starts with a drive letter";
  if (Buffer.byteLength(name) > archiveLimits.pathBytes) return "has a path that is too long";
  for (const part of name.replace(/\/$/, "").split("/")) {
    if (part === "") return "has an empty name";
    if (part === "." || part === "..") return "leads out of the folder";
    if (/[. ]$/.test(part)) return "has a name that ends with a dot or a space";
    if (isDeviceName(part)) return "has a name that Windows reserves for devices";
    if (Buffer.byteLength(part) > archiveLimits.nameBytes) return "has a name that is too long";
  }
  return null;
}

/** A path without the characters that Windows does not allow in names: `_` replaces each. */
export const portablePath = (path: string): string => path.replace(/[:*?"<>|]/g, "_");

/** The same for all spellings that some file system treats as one name: case, and the form of accents. */
export const foldedPath = (path: string): string =>
  path.normalize("NFD").toUpperCase().toLowerCase().normalize("NFC");
