/**
 * The original bytes of the arguments if some are not UTF-8, such as a file name in Latin-1: Node replaces
 * those bytes in `argv`, but Linux still has them. Null if `argv` is exact, or if the bytes are not
 * available.
 */
export async function rawArguments(platform: string, argv: readonly string[]): Promise<Uint8Array[] | null> {
  if (platform !== "linux" || !argv.some((argument) => argument.includes("\uFFFD"))) return null;
  const { readFileSync } = await import("node:fs");
  try {
    const all = splitAtNul(readFileSync("/proc/self/cmdline"));
    const raw = all.slice(all.length - argv.length);
    const same = raw.every((bytes, index) => new TextDecoder().decode(bytes) === argv[index]);
    return same && raw.length === argv.length ? raw : null;
  } catch {
    return null;
  }
}

/**
 * A shell command that starts the `cat` at `path` with these bytes, because Node can only pass text. The
 * shell gets every byte as an octal escape and replaces itself with cat.
 */
export function throughShell(path: string, raw: readonly Uint8Array[]): [string, string[], string] {
  const folder = path.slice(0, path.lastIndexOf("/"));
  const lines = ["set --"];
  for (const bytes of raw) {
    const octal = Array.from(bytes, (byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");
    // The x protects newlines at the end of a name, which a command substitution removes.
    lines.push(`a=$(printf '${octal}x')`, `set -- "$@" "\${a%x}"`);
  }
  // Started by name, so that argv[0] is `cat`.
  lines.push(`PATH="$0:$PATH"`, `exec cat "$@"`);
  return ["/bin/sh", ["-c", lines.join("\n"), folder], "sh"];
}

function splitAtNul(bytes: Uint8Array): Uint8Array[] {
  const parts: Uint8Array[] = [];
  let start = 0;
  for (let end = bytes.indexOf(0); end >= 0; end = bytes.indexOf(0, start)) {
    parts.push(bytes.subarray(start, end));
    start = end + 1;
  }
  return parts;
}
