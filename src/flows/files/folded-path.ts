// Apart from the other names, whose digests would make a dry run load node:crypto.

/** A path as file systems compare it that know neither case nor the form of accents. Equal results collide. */
export function foldedPath(path: string): string {
  // ASCII has one form, and most names are ASCII.
  if (!/[^\0-\x7f]/.test(path)) return path.toLowerCase();
  return path.normalize("NFD").toUpperCase().toLowerCase().normalize("NFC");
}
