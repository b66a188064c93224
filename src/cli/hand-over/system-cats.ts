/** The environment variable that lists what was tried already, so that a wrapper that calls us back ends no loop. */
export const triedVariable = "CAT_HANDED_TO";

/** A program named cat that is not this one. */
export interface Candidate {
  readonly path: string;
  readonly realPath: string;
}

/** Where a cat stands on every system that follows the old layout; for a PATH that has none. */
const lastResorts = ["/bin/cat", "/usr/bin/cat"];

/**
 * The cats that a call may be handed to, best first: those after our own place on PATH, those before it, and the
 * usual places. `isUs` says whether a program leads to this one.
 */
export async function* systemCats(
  host: Pick<NodeJS.Process, "env" | "platform" | "cwd">,
  isUs: (path: string) => Promise<boolean>,
): AsyncGenerator<Candidate> {
  const { posix, win32 } = await import("node:path");
  const windows = host.platform === "win32";
  const path = windows ? win32 : posix;
  const name = windows ? "cat.exe" : "cat";
  // An empty entry means the current folder; joined, it becomes the bare name, which is looked for there.
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
    if (await isUs(found.path)) passedOurselves = true;
    else if (passedOurselves) yield found;
    else before.push(found);
  }
  yield* before;
  for (const candidate of windows ? [] : lastResorts) {
    const found = await program(candidate);
    if (found !== null && !seen.has(found.realPath) && !(await isUs(found.path))) yield found;
  }

  function absolute(candidate: string): string {
    if (path.isAbsolute(candidate)) return candidate;
    try {
      return path.join(host.cwd(), candidate);
    } catch {
      return candidate; // The current folder was deleted: the entry leads nowhere.
    }
  }
}

/** The program at `path`, or null when there is nothing that can be started. */
async function program(path: string): Promise<Candidate | null> {
  const { accessSync, constants, realpathSync, statSync } = await import("node:fs");
  try {
    if (!statSync(path).isFile()) return null;
    accessSync(path, constants.X_OK);
    return { path, realPath: realpathSync(path) };
  } catch {
    return null;
  }
}
