/** A text in a comment of the programs in bin/, by which a copy of them is recognized. */
export const marker = "catalogue:this-is-our-cat";

/** The maximum number of bytes to read of a script: shims and the programs in bin/ are much shorter. */
const longestScript = 16_384;

/**
 * The effect of starting a program: it starts this one, is a script that may start anything, or is a binary.
 */
export type Lead = "to us" | "anywhere" | "nowhere";

/**
 * Determines whether starting `path` would start this program again: `path` is a link to it (as npm creates),
 * a copy of it, or a small script that names it (the shims of pnpm, yarn and npm on Windows). Other scripts
 * may start anything.
 */
export async function leadsToUs(path: string, own: string): Promise<Lead> {
  const { realpathSync } = await import("node:fs");
  const { dirname, resolve } = await import("node:path");
  const real = realpathSync(path);
  if (real === realpathSync(own)) return "to us";
  const script = await scriptAt(real);
  if (script === null) return "nowhere";
  if (script.includes(marker)) return "to us";
  for (const named of scriptsNamedIn(script)) {
    // A shim refers to its folder as `$basedir`; the folder of a link to the shim works too.
    for (const folder of new Set([dirname(path), dirname(real)])) {
      const target = resolve(folder, named.replace(/^\$\{?\w+\}?(?=\/)/, folder));
      if ((await scriptAt(target))?.includes(marker)) return "to us";
    }
  }
  return "anywhere";
}

/** The paths of JavaScript files in a script, with or without quotes. */
function* scriptsNamedIn(script: string): Generator<string> {
  for (const match of script.matchAll(/"([^"\n]+\.[cm]?js)"|'([^'\n]+\.[cm]?js)'|([^\s"'=;]+\.[cm]?js)/g)) {
    yield (match[1] ?? match[2] ?? match[3])!;
  }
}

/** The text of a small script (it starts with `#!`); null for anything else. */
async function scriptAt(path: string): Promise<string | null> {
  const { closeSync, openSync, readSync, statSync } = await import("node:fs");
  try {
    if (!statSync(path).isFile()) return null;
    const descriptor = openSync(path, "r");
    try {
      const bytes = new Uint8Array(longestScript);
      const length = readSync(descriptor, bytes);
      const text = new TextDecoder("latin1").decode(bytes.subarray(0, length));
      return text.startsWith("#!") ? text : null;
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return null; // A file that cannot be read is not a copy of this program.
  }
}
