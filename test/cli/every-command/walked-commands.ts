/** The commands of a walk: each `step`-th, beginning with the first. A step of 1 walks over all. */
export const walkedCommands = <Command>(commands: readonly Command[], step: number): readonly Command[] =>
  commands.filter((_, at) => at % step === 0);
