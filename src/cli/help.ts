import { exitMeanings } from "./context/exit.ts";
import { type GlobalFlag, globalFlags } from "./global-flags.ts";

/** What stands at the end of the top help: examples, the exit statuses, and how to reach the system's cat. */
export const helpSections = (): string => `
More about one of them: cat help COMMAND

Examples:
  # see what it does, without an account: import a file into a made-up service
  $ cat import products.csv --mock

  # check a file and send nothing
  $ cat import products.csv --dry-run

  # import it
  $ export CAT_BASE_URL=https://HOST CAT_API_KEY=ak_...
  $ cat import products.csv

  # find a product
  $ cat products list --q "linen dress"

Flags that every command takes, before or after its name:
${flagLines}

Exit status:
${exitLines}

This is not the system's cat: a call that names none of the commands above goes
to that one, so \`cat notes.txt\`, \`echo hi | cat\` and \`cat -n FILE\` work as
ever. For a file that is named like a command write \`cat ./import\`; the system's
own help is \`/bin/cat --help\`. The plain name of this program is \`catalogue\`.
`;

const exitLines = Object.entries(exitMeanings)
  .map(([code, meaning]) => `  ${code.padStart(3)}  ${meaning}`)
  .join("\n");

const flagName = ({ flag, value }: GlobalFlag): string => (value === null ? flag : `${flag} ${value}`);
const nameWidth = Math.max(...globalFlags.map((flag) => flagName(flag).length));
const flagLines = globalFlags
  .map((flag) => `  ${flagName(flag).padEnd(nameWidth)}  ${flag.about}`)
  .join("\n");
