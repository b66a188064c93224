/**
 * Every subcommand, in the order in which help shows them. This is the one place that decides which calls of `cat` are
 * ours and which belong to the system's cat; the registry (commands.ts) does not compile when it lacks one.
 */
export const commandNames = ["import", "imports", "products", "images", "models", "serve", "help"] as const;
export type CommandName = (typeof commandNames)[number];
