/** Stands in a comment of our programs (bin/), so that a copy of them is known when it is met. */
export const marker = "catalogue:this-is-our-cat";

/** A shim is a few hundred bytes, our programs little more: what is longer is neither. */
const longestScript = 16_384;

/** Where starting a program leads: to this one, wherever a script pleases, or, for a program of machine code, nowhere else. */
export type Lead = "to us" | "anywhere" | "nowhere";

/**
 * Whether starting `path` would start this program again: it is a link to it (as npm makes), a copy of it, or a small
 * script that names it (the shims of pnpm, yarn and npm on Windows). Of any other script that cannot be told.
 */
export async function leadsToUs(path: string, ours: string): Promise<Lead> {
  const { realpathSync } = await import("node:fs");
  const { dirname, resolve } = await import("node:path");
  const real = realpathSync(path);
  if (real === realpathSync(ours)) return "to us";
  const script = await scriptAt(real);
  if (script === null) return "nowhere";
  if (script.includes(marker)) return "to us";
  for (const named of scriptsNamedIn(script)) {
    // A shim writes its own folder as `$basedir`; the folder of a link to it will do as well.
    for (const folder of new Set([dirname(path), dirname(real)])) {
      const target = resolve(folder, named.replace(/^\$\{?\w+\}?(?=\/)/, folder));
      if ((await scriptAt(target))?.includes(marker)) return "to us";
    }
  }
  return "anywhere";
}

/** The paths of JavaScript files that a script names, in quotes or without. */
function* scriptsNamedIn(script: string): Generator<string> {
  for (const match of script.matchAll(/"([^"\n]+\.[cm]?js)"|'([^'\n]+\.[cm]?js)'|([^\s"'=;]+\.[cm]?js)/g)) {
    yield (match[1] ?? match[2] ?? match[3])!;
  }
}

/** The text of a small script (it begins with `#!`), or null for anything else. */
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
    return null; // It cannot be read: then it is not ours.
  }
}
