/** The two columns of a failed file that say why a row is there; an input's own such columns are ignored. */
export const failureColumns = ["error_code", "error_message"] as const;

/** Whether a header is that of one of the two. */
export const isFailureColumn = (header: string): boolean =>
  (failureColumns as readonly string[]).includes(normalHeader(header));

/**
 * A header as columns are compared: case and surrounding space do not matter, nor does what cannot be seen, such as a
 * no-break space, the rest of a byte order mark, or whether an accent is a character of its own.
 */
export const normalHeader = (header: string): string => {
  const name = header.trim().toLowerCase();
  // Nearly every header is plain, and a file may have very many.
  if (/^[\x21-\x7e]*$/.test(name)) return name;
  return name
    .normalize("NFC")
    .replace(/[\u00ad\u200b-\u200f\u2060\ufeff]/g, "")
    .replace(/\s+/g, " ")
    .trim();
};
