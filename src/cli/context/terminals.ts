import { childEnvironment } from "./child-environment.ts";

type Host = Pick<NodeJS.Process, "getBuiltinModule">;

/** The standard streams that are terminals, also closed ones: all devices but the null device. */
export function terminalStreams({ getBuiltinModule }: Host): number[] {
  const { fstatSync, statSync } = getBuiltinModule("node:fs");
  return [0, 1, 2].filter((descriptor) => {
    try {
      const stats = fstatSync(descriptor);
      if (!stats.isCharacterDevice()) return false;
      return stats.rdev !== statSync(getBuiltinModule("node:os").devNull).rdev;
    } catch {
      return false;
    }
  });
}

/** Ends the process in its last `exit` listener: Node would abort where a terminal was closed. */
export function exitAsTold(host: NodeJS.Process): never {
  for (const descriptor of terminalStreams(host)) {
    if (!host.getBuiltinModule("node:tty").isatty(descriptor))
      host.getBuiltinModule("node:fs").closeSync(descriptor);
  }
  return host.exit();
}

/** Whether another group of processes has the terminal (`COMMAND &`). False where it cannot be read. */
export async function inBackground(host: NodeJS.Process): Promise<boolean> {
  const groups = ofProc(host) ?? (await ofPs(host));
  if (groups === null) return false;
  const [own, foreground] = groups;
  // Without a terminal it is 0 or -1.
  return foreground > 0 && own !== foreground;
}

/** The group of this process, and the one in the foreground of its terminal; null if they are unknown. */
type Groups = readonly [own: number, foreground: number] | null;

function ofProc({ getBuiltinModule }: Host): Groups {
  try {
    const text = getBuiltinModule("node:fs").readFileSync("/proc/self/stat", "utf8");
    // After the name, which may have spaces: state, parent, group, session, terminal, foreground group.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return [Number(fields[2]), Number(fields[5])];
  } catch {
    return null;
  }
}

async function ofPs({ getBuiltinModule, pid, env }: NodeJS.Process): Promise<Groups> {
  const { execFile } = getBuiltinModule("node:child_process");
  return new Promise((resolve) => {
    const options = { env: childEnvironment(env, "session") };
    execFile("ps", ["-o", "pgid=,tpgid=", "-p", String(pid)], options, (error, stdout) => {
      const [own = 0, foreground = 0] = stdout.trim().split(/ +/).map(Number);
      resolve(error === null ? [own, foreground] : null);
    });
  });
}
