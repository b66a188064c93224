import type { Lead } from "./leads-to-us.ts";

/** A program named cat that is not this one. */
export interface Candidate {
  readonly path: string;
  readonly realPath: string;
  /** Whether it may start this program again: true for all but a binary at one of the usual paths. */
  readonly mayCallBack: boolean;
}

/** The usual paths of cat, for a PATH without one. */
const lastResorts = ["/bin/cat", "/usr/bin/cat"];

/**
 * The other programs named cat, best first: those after this program on PATH, those before it, and the usual
 * paths. `leadsTo` determines the effect of starting one.
 */
export async function* systemCats(
  host: Pick<NodeJS.Process, "env" | "platform" | "cwd">,
  leadsTo: (path: string) => Promise<Lead>,
): AsyncGenerator<Candidate> {
  const { posix, win32 } = await import("node:path");
  const windows = host.platform === "win32";
  const path = windows ? win32 : posix;
  const name = windows ? "cat.exe" : "cat";
  // An empty entry means the current folder; joined, it becomes the bare name, which is resolved there.
  const folders = (host.env.PATH ?? "").split(path.delimiter);
  const onPath = host.env.PATH === undefined || host.env.PATH === "" ? [] : folders;
  const before: Candidate[] = [];
  let passedOurselves = false;
  const seen = new Set<string>();
  const candidates = [...onPath.map((folder) => path.join(folder, name))];
  for (const candidate of candidates) {
    const found = await program(absolute(candidate));
    if (found === null || seen.has(found.realPath)) continue;
    seen.add(found.realPath);
    const other = judged(found, await leadsTo(found.path));
    if (other === null) passedOurselves = true;
    else if (passedOurselves) yield other;
    else before.push(other);
  }
  yield* before;
  for (const candidate of windows ? [] : lastResorts) {
    const found = await program(candidate);
    if (found === null || seen.has(found.realPath)) continue;
    const other = judged(found, await leadsTo(found.path));
    if (other !== null) yield other;
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

function judged(found: Found, lead: Lead): Candidate | null {
  if (lead === "to us") return null;
  const usual = lastResorts.includes(found.path) || lastResorts.includes(found.realPath);
  return { ...found, mayCallBack: lead === "anywhere" || !usual };
}

/** The program at `path`; null if it is missing or not executable. */
async function program(path: string): Promise<Found | null> {
  const { accessSync, constants, realpathSync, statSync } = await import("node:fs");
  try {
    if (!statSync(path).isFile()) return null;
    accessSync(path, constants.X_OK);
    return { path, realPath: realpathSync(path) };
  } catch {
    return null;
  }
}
