import { exitMeanings } from "./context/exit.ts";
import { type GlobalFlag, globalFlags } from "./global-flags.ts";

/** The end of the top help: examples, global flags, exit statuses, and the system's cat. */
export const helpSections = (): string => `
For help with a command: cat help COMMAND

Examples:
  # try an import without an account, with a mock of the service
  $ cat import products.csv --mock

  # check a file without sending it
  $ cat import products.csv --dry-run

  # import a file
  $ export CAT_BASE_URL=https://HOST CAT_API_KEY=ak_...
  $ cat import products.csv

  # search for products
  $ cat products list --q "linen dress"

Global flags, before or after the command:
${flagLines}

Exit status:
${exitLines}

The system's cat still works: \`cat notes.txt\`, \`echo hi | cat\` and \`cat -n FILE\`
are passed on to it. To print a file that has the name of a command, add its
folder: \`cat ./import\`. For help with the system's cat: \`/bin/cat --help\`.
\`catalogue\` is another name of this program; it passes nothing on.
`;

const exitLines = Object.entries(exitMeanings)
  .map(([code, meaning]) => `  ${code.padStart(3)}  ${meaning}`)
  .join("\n");

const flagName = ({ flag, value }: GlobalFlag): string => (value === null ? flag : `${flag} ${value}`);
const nameWidth = Math.max(...globalFlags.map((flag) => flagName(flag).length));
const flagLines = globalFlags
  .map((flag) => `  ${flagName(flag).padEnd(nameWidth)}  ${flag.about}`)
  .join("\n");
