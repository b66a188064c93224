/** What tools may do besides reading. */
export const permissions = ["writes", "generations", "deletes"] as const;
export type Permission = (typeof permissions)[number];

export interface McpFlags {
  readonly allow: ReadonlySet<Permission>;
  readonly root: string;
  readonly maxGenerations: number | null;
}
