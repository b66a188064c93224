/** The two columns of a failed file with the reason; an import ignores them. */
export const failureColumns = ["error_code", "error_message"] as const;

/** Whether a header names one of the failure columns. */
export const isFailureColumn = (header: string): boolean =>
  (failureColumns as readonly string[]).includes(normalHeader(header));

/**
 * A header normalized for comparison: ignores case, surrounding space, invisible characters (no-break spaces,
 * a leftover byte order mark) and how accents are composed.
 */
export const normalHeader = (header: string): string => {
  const name = header.trim().toLowerCase();
  // Nearly every header is plain ASCII, and a file may have very many.
  if (/^[\x21-\x7e]*$/.test(name)) return name;
  return name
    .normalize("NFC")
    .replace(/[\u00ad\u200b-\u200f\u2060\ufeff]/g, "")
    .replace(/\s+/g, " ")
    .trim();
};
