import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { systemClock } from "../../clock.ts";
import { CatError } from "../../errors.ts";
import { parseJson } from "../../json.ts";
import type { App } from "../app/app.ts";
import { type Env, profileFileName } from "../settings/profile-names.ts";
import { configPath } from "../settings/profiles.ts";
import type { Kind } from "./words.ts";

/** Where names are looked up: the environment and the words typed so far. */
export interface Lookup {
  readonly env: Env;
  readonly words: readonly string[];
}

/** The mark of a state that keeps the names of the last list, as a JSON array of pairs. */
export const toMark = (kind: Kind): string => `completion:${kind}`;

/** The names of a kind on this machine: profiles, and the last list shown. Nothing is sent. */
export async function keptNames(
  kind: Kind,
  lookup: Lookup,
): Promise<(readonly [name: string, about: string])[]> {
  const { env, words } = lookup;
  const config = await configPath({ env });
  const settings = settingsIn(config);
  if (kind === "profiles") return Object.keys(settings.profiles).map((name) => [name, ""] as const);
  const profile = valueAfter(words, "--profile") ?? (env.CAT_PROFILE || settings.active);
  const baseUrl =
    valueAfter(words, "--base-url") ?? (env.CAT_BASE_URL || settings.profiles[profile]?.baseUrl);
  const path = join(dirname(config), "state", `${profileFileName(profile)}.db`);
  if (typeof baseUrl !== "string" || !existsSync(path)) return [];
  // Loading the database takes longer than all the rest: only for names that it keeps.
  const [{ openState }, { parseBaseUrl }, { insecureHosts }] = await Promise.all([
    import("../../state/state.ts"),
    import("../../client/base-url.ts"),
    import("../settings/settings.ts"),
  ]);
  const { origin, prefix } = parseBaseUrl(baseUrl, insecureHosts(env));
  const state = await openState(path, { clock: systemClock() });
  try {
    return parseJson(state.marks.get(origin + prefix, toMark(kind)) ?? "[]") as [string, string][];
  } finally {
    state.close();
  }
}

interface Settings {
  readonly active: string;
  readonly profiles: Readonly<Record<string, { readonly baseUrl?: unknown } | undefined>>;
}

/** The config file, read without the library that validates it, which takes longer. */
function settingsIn(path: string): Settings {
  try {
    const { active, profiles } = parseJson(readFileSync(path, "utf8")) as Partial<Settings>;
    return { active: typeof active === "string" ? active : "default", profiles: profiles ?? {} };
  } catch {
    return { active: "default", profiles: {} };
  }
}

function valueAfter(words: readonly string[], flag: string): string | undefined {
  const at = words.indexOf(flag);
  return at < 0
    ? words.find((word) => word.startsWith(`${flag}=`))?.slice(flag.length + 1)
    : words.slice(0, -1)[at + 1];
}

/** Keeps the names that a list showed, for Tab. An error of the state is ignored: the list was printed. */
export async function keepNames(
  app: App,
  kind: Kind,
  names: readonly (readonly [name: string, about: string])[],
): Promise<void> {
  try {
    const { baseUrl } = await app.connection();
    const state = await app.state();
    state.marks.set(baseUrl, toMark(kind), JSON.stringify(names));
  } catch (error) {
    if (!(error instanceof CatError)) throw error;
  }
}
