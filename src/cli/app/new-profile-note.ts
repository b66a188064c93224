import { didYouMean } from "../../contract/did-you-mean.ts";
import { CatError } from "../../errors.ts";
import type { State } from "../../state/state.ts";
import type { Asker } from "./open-profile-state.ts";

/**
 * The note for an import with a profile that is not in the settings, while its ledger has nothing about the service:
 * a mistyped name would add all photos a second time. Null for any other profile, and for the default one.
 */
export async function newProfileNote(
  app: Asker,
  { accounts, ledger, batches }: State,
  baseUrl: string,
): Promise<string | null> {
  const isKnown = (account: number) => !ledger.isEmpty(account) || batches.anyUnsettled(account);
  if (app.globals.mock || accounts.at(baseUrl).some(isKnown)) return null;
  const { defaultProfile, readProfiles } = await import("../settings/profiles.ts");
  const { profileName } = await import("../settings/settings.ts");
  try {
    const { env } = app.context;
    const profiles = await readProfiles(env);
    const { name } = profileName(app.globals, env, profiles);
    if (name === defaultProfile || profiles.find(name) !== null) return null;
    const meant = didYouMean(name, profiles.names);
    const question = meant.length === 0 ? "" : ` Did you mean ${meant.join(" or ")}?`;
    return `Profile ${name} is not in the settings; it starts with an empty ledger.${question}`;
  } catch (error) {
    // A profile that a flag or a variable names needs no settings.
    if (error instanceof CatError) return null;
    throw error;
  }
}
