/** What a child's descriptor is: ours, nothing, or the open one of that number. */
type Descriptor = "inherit" | "ignore" | number;

/**
 * The descriptors for the system's cat: the three standard ones and those that the arguments name (`/dev/fd/3`, which
 * `cat <(command)` becomes), as Node closes low ones for a child otherwise. What is "ignore" beyond the third is left alone.
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

/** Whether a descriptor was given by our caller: it is open, and none of those that Node opens for itself. */
export async function isTheCallers(platform: string, descriptor: number): Promise<boolean> {
  const fs = await import("node:fs");
  try {
    fs.fstatSync(descriptor);
    if (platform !== "linux") return true;
    const target = targetOf(descriptor);
    if (target.startsWith("anon_inode:")) return false;
    // Of its own pipes Node holds both ends; of a caller's we hold one.
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
      return ""; // The one that lists the folder is closed by now.
    }
  }
}

/** Whether an open descriptor cannot be written to; false where the system does not tell. */
export async function isForReadingOnly(platform: string, descriptor: number): Promise<boolean> {
  if (platform !== "linux") return false;
  const fs = await import("node:fs");
  return accessOf(fs, descriptor) === fs.constants.O_RDONLY;
}

function accessOf({ readFileSync }: typeof import("node:fs"), open: number | string): number {
  const flags = /^flags:\s*([0-7]+)/m.exec(readFileSync(`/proc/self/fdinfo/${open}`, "latin1"))?.[1];
  return Number.parseInt(flags ?? "0", 8) & 0o3;
}
