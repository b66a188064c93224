import type { RequestDetail } from "../data.ts";

/** Headers that curl sets itself, or that belong to one connection. */
const unneeded = new Set([
  "host",
  "connection",
  "content-length",
  "transfer-encoding",
  "accept-encoding",
  "expect",
  "authorization",
]);

/** The command that sends a request again, for a POSIX shell. A key that is not of the mock comes from CAT_API_KEY. */
export function toCurl({ row, request }: RequestDetail, origin: string): string {
  const parts = ["curl"];
  // Otherwise curl takes braces and brackets for a pattern, and removes dots from a path.
  if (/[[\]{}]/.test(request.path)) parts.push("--globoff");
  if (/\/\.{1,2}(?:[/?#]|$)/.test(request.path)) parts.push("--path-as-is");
  if (row.method !== "GET") parts.push("-X", row.method);
  if (row.key !== null) {
    parts.push(
      "-H",
      row.key === "***" ? '"Authorization: Bearer $CAT_API_KEY"' : quoted(`Authorization: Bearer ${row.key}`),
    );
  }
  for (const [name, value] of Object.entries(request.headers)) {
    // Without its value, curl sends a header only if a semicolon follows the name.
    if (!unneeded.has(name)) parts.push("-H", quoted(value === "" ? `${name};` : `${name}: ${value}`));
  }
  const { body } = request;
  let note = "";
  if (body != null) {
    if (body.encoding === "utf8" && body.note === undefined && !body.content.includes("\0")) {
      parts.push("--data-raw", quoted(body.content));
    } else {
      parts.push("--data-binary", "@BODY");
      note = `# Save the body of ${body.bytes} bytes as BODY first.\n`;
    }
  }
  parts.push(quoted(origin + request.path));
  return note + parts.join(" ");
}

/** A word for a POSIX shell. */
export const quoted = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
