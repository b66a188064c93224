/** The form of every ID except a model's: a ULID, 26 characters of Crockford base32 (Resources). */
export const ulidPattern = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;

/**
 * A request ID chosen by the client: up to 128 letters, digits, `.`, `_`, `:`, `-` (Cross-cutting rule 7).
 */
export const requestIdPattern = /^[A-Za-z0-9._:-]{1,128}$/;
