/**
 * Every subcommand, in the order of the help. A `cat` command line whose first word is not in this list goes
 * to the system's cat. The table in commands.ts does not compile without an entry for each name.
 */
export const commandNames = [
  "import",
  "imports",
  "tryon",
  "beautify",
  "tasks",
  "export",
  "exports",
  "products",
  "images",
  "models",
  "webhooks",
  "serve",
  "api",
  "login",
  "logout",
  "whoami",
  "doctor",
  "config",
  "commands",
  "completion",
  "help",
] as const;
export type CommandName = (typeof commandNames)[number];
