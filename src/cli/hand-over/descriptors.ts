/** A descriptor of the child: inherited, closed, or the open one with this number. */
type Descriptor = "inherit" | "ignore" | number;

/**
 * The descriptors for the system's cat: the three standard ones and those in the arguments (`cat <(command)`
 * becomes `cat /dev/fd/3`), because Node closes low descriptors of a child otherwise. "ignore" beyond the
 * third leaves one alone.
 */
export async function descriptors(platform: string, argv: readonly string[]): Promise<Descriptor[]> {
  const stdio: Descriptor[] = ["inherit", "inherit", "inherit"];
  for (const argument of argv) {
    const named = Number(/^\/(?:dev|proc\/self)\/fd\/(\d{1,4})$/.exec(argument)?.[1] ?? 0);
    if (named < 3 || !(await isTheCallers(platform, named))) continue;
    while (stdio.length <= named) stdio.push("ignore");
    stdio[named] = named;
  }
  return stdio;
}

/** Whether the caller opened a descriptor: it is open, and Node did not open it for its own use. */
export async function isTheCallers(platform: string, descriptor: number): Promise<boolean> {
  const fs = await import("node:fs");
  try {
    fs.fstatSync(descriptor);
    if (platform !== "linux") return true;
    const target = targetOf(descriptor);
    if (target.startsWith("anon_inode:")) return false;
    // Node holds both ends of its own pipes, and one end of a pipe from the caller.
    return !(
      target.startsWith("pipe:") &&
      fs
        .readdirSync("/proc/self/fd")
        .some((other) => targetOf(other) === target && accessOf(fs, other) !== accessOf(fs, descriptor))
    );
  } catch {
    return false;
  }

  function targetOf(open: number | string): string {
    try {
      return fs.readlinkSync(`/proc/self/fd/${open}`);
    } catch {
      return ""; // The descriptor that listed the folder is closed again.
    }
  }
}

function accessOf({ readFileSync }: typeof import("node:fs"), open: number | string): number {
  const flags = /^flags:\s*([0-7]+)/m.exec(readFileSync(`/proc/self/fdinfo/${open}`, "latin1"))?.[1];
  return Number.parseInt(flags ?? "0", 8) & 0o3;
}
