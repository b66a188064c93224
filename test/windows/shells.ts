/** How a shell of Windows sets variables. */
export interface ShellWords {
  set(name: string, value: string): string;
  /** Between two commands of a line. */
  readonly next: string;
}

export const inPowerShell: ShellWords = { set: (name, value) => `$env:${name}="${value}"`, next: "; " };
/** A space before `&` would belong to the value. */
export const inCmd: ShellWords = { set: (name, value) => `set ${name}=${value}`, next: "& " };

/** A command of the pages as it is typed in a shell of Windows, where `cat` may be an alias. */
export function translated(command: string, { set, next }: ShellWords): string {
  const [word, ...rest] = command.split(" ");
  if (word !== "export") return word === "cat" ? ["catalogue", ...rest].join(" ") : command;
  return rest.map((one) => set(...(one.split(/=(.*)/s) as [string, string]))).join(next);
}
