import { exitMeanings } from "./exit.ts";

/** What stands at the end of the top help: examples, the exit statuses, and how to reach the system's cat. */
export const helpSections = (): string => `
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

Exit status:
${exitLines}

This is not the system's cat: a call that names none of the commands above goes to that one, so
\`cat notes.txt\`, \`echo hi | cat\` and \`cat -n FILE\` work as ever. For a file that is named like a
command write \`cat ./import\`; the system's own help is \`/bin/cat --help\`. The plain name of this
program is \`catalogue\`.
`;

const exitLines = Object.entries(exitMeanings)
  .map(([code, meaning]) => `  ${code.padStart(3)}  ${meaning}`)
  .join("\n");
