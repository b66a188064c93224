import { repetitions } from "../../support/repetitions.ts";

/** The commands of a walk: all in `npm run test:long`, each sixth, beginning with the first, in `npm test`. */
export const walkedCommands = <Command>(commands: readonly Command[]): readonly Command[] =>
  commands.filter((_, at) => at % repetitions(6, 1) === 0);
