import { accessSync, closeSync, constants, openSync, readSync, realpathSync, statSync } from "node:fs";
import { dirname, posix, resolve, win32 } from "node:path";

/** A program named cat that is not this one. */
export interface Candidate {
  readonly path: string;
  readonly realPath: string;
  /** Whether it may start this program again: true for all but a binary at one of the usual paths. */
  readonly mayCallBack: boolean;
}

/** The usual paths of cat, for a PATH without one. */
const lastResorts = ["/bin/cat", "/usr/bin/cat"];

/** Other programs named cat: after this one on PATH, before it, and usual paths, by what they lead to. */
export async function* systemCats(
  host: Pick<NodeJS.Process, "env" | "platform" | "cwd">,
  leadsTo: (path: string) => Promise<Lead>,
): AsyncGenerator<Candidate> {
  const windows = host.platform === "win32";
  const path = windows ? win32 : posix;
  const name = windows ? "cat.exe" : "cat";
  // An empty entry means the current folder; joined, it becomes the bare name, which is resolved there.
  const onPath = host.env.PATH ? host.env.PATH.split(path.delimiter) : [];
  const before: Candidate[] = [];
  let passedOurselves = false;
  const seen = new Set<string>();
  /** The program at a path; undefined for none and for one that was seen, null for this program. */
  const catAt = async (candidate: string) => {
    const file = await program(candidate);
    if (file === null || seen.has(file.realPath)) return undefined;
    seen.add(file.realPath);
    return judged(file, await leadsTo(file.path));
  };
  for (const folder of onPath) {
    const otherCat = await catAt(absolute(path.join(folder, name)));
    if (otherCat === null) passedOurselves = true;
    else if (otherCat === undefined) continue;
    else if (passedOurselves) yield otherCat;
    else before.push(otherCat);
  }
  yield* before;
  for (const candidate of windows ? [] : lastResorts) {
    const cat = await catAt(candidate);
    if (cat) yield cat;
  }

  function absolute(candidate: string): string {
    if (path.isAbsolute(candidate)) return candidate;
    try {
      return path.join(host.cwd(), candidate);
    } catch {
      return candidate; // The current folder was deleted, so the file does not exist.
    }
  }
}

type Found = Omit<Candidate, "mayCallBack">;

function judged(located: Found, lead: Lead): Candidate | null {
  if (lead === "to us") return null;
  const usual = lastResorts.includes(located.path) || lastResorts.includes(located.realPath);
  return { ...located, mayCallBack: lead === "anywhere" || !usual };
}

/** The program at `path`; null if it is missing or not executable. */
async function program(path: string): Promise<Found | null> {
  try {
    if (!statSync(path).isFile()) return null;
    accessSync(path, constants.X_OK);
    return { path, realPath: realpathSync(path) };
  } catch {
    return null;
  }
}

/** A text in a comment of the programs in bin/, by which a copy of them is recognized. */
export const marker = "catalogue:this-is-our-cat";

/** The maximum number of bytes to read of a script: shims and the programs in bin/ are much shorter. */
const longestScript = 16_384;

/** The effect of starting a program: this one again, a script that may start it, or neither (a binary). */
export type Lead = "to us" | "anywhere" | "nowhere";

/**
 * Determines whether starting `path` would start this program again: `path` is a link to it (as npm creates),
 * a copy of it, or a small script that names it (the shims of pnpm, yarn and npm on Windows). Other scripts
 * may start anything. `own`, the file of the running program, saves reading it.
 */
export async function leadsToUs(path: string, own?: string): Promise<Lead> {
  const real = realpathSync(path);
  if (own !== undefined && real === realpathSync(own)) return "to us";
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
  for (const match of script.matchAll(
    /"([^"\n]+\.[cm]?js)"|'([^'\n]+\.[cm]?js)'|(?<![^\s"'=;])([^\s"'=;]+\.[cm]?js)/g,
  )) {
    yield (match[1] ?? match[2] ?? match[3])!;
  }
}

/** The text of a small script (it starts with `#!`); null for anything else. */
async function scriptAt(path: string): Promise<string | null> {
  try {
    if (!statSync(path).isFile()) return null;
    const descriptor = openSync(path, "r");
    try {
      const bytes = Buffer.alloc(longestScript);
      // The system's cat is a binary: two bytes of it are enough.
      if (readSync(descriptor, bytes, 0, 2, 0) < 2 || bytes.toString("latin1", 0, 2) !== "#!") return null;
      return bytes.toString("latin1", 0, readSync(descriptor, bytes, 0, longestScript, 0));
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return null; // A file that cannot be read is not a copy of this program.
  }
}
