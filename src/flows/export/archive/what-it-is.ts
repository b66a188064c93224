/** The number of first bytes that `whatItIs` needs. */
export const whatItIsBytes = 512;

/**
 * What a file that should be a ZIP is instead, for users, by its first bytes; null if it starts as a ZIP does. A ZIP that
 * starts with anything else is another kind of file as well, and programs disagree about which.
 */
export function whatItIs(head: Uint8Array): string | null {
  if (head.length === 0) return "it is empty";
  const start = Buffer.from(head.buffer, head.byteOffset, head.length);
  if (["PK\x03\x04", "PK\x05\x06"].includes(start.toString("latin1", 0, 4))) return null;
  const text = start
    .toString("utf8")
    .replace(/^\ufeff?\s*/, "")
    .toLowerCase();
  if (/^(?:<!--.*?-->\s*)?<(?:!doctype html|html|head|body|title)\b/s.test(text)) return "it is an HTML page";
  if (text.startsWith("<")) return "it is an XML document";
  if (/^[{[]/.test(text)) return "it is JSON";
  if (start[0] === 0x1f && start[1] === 0x8b) return "it is a gzip file";
  return "it does not start like one";
}
