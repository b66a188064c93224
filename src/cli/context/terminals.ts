type Host = Pick<NodeJS.Process, "getBuiltinModule">;

/**
 * The standard streams (0, 1, 2) that are terminals, also closed ones, which Node no longer takes for any: all devices
 * but the one that discards everything.
 */
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

/**
 * Ends the process with its exit status, in its last `exit` listener: Node would abort where a terminal was closed, which it
 * wants to restore, and would no longer handle the signals that still come.
 */
export function exitAsTold(host: Host & Pick<NodeJS.Process, "exit">): never {
  for (const descriptor of terminalStreams(host)) {
    if (!host.getBuiltinModule("node:tty").isatty(descriptor))
      host.getBuiltinModule("node:fs").closeSync(descriptor);
  }
  return host.exit();
}
