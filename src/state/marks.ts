/** Small texts that a later command of the profile needs, by base URL and name, e.g. where the last export ended. */
export interface Marks {
  /** The value of a mark; null if it was never set. */
  get(baseUrl: string, name: string): string | null;
  set(baseUrl: string, name: string, value: string): void;
  /** Sets a mark unless its value sorts after the new one, which another process may have set meanwhile. */
  raise(baseUrl: string, name: string, value: string): void;
  remove(baseUrl: string, name: string): void;
  /** The marks of a base URL whose names start with the prefix, by name. */
  list(baseUrl: string, prefix: string): { readonly name: string; readonly value: string }[];
}
