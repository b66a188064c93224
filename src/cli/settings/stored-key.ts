import { parseBaseUrl } from "../../client/base-url.ts";
import type { Context } from "../context/context.ts";
import { KeyError } from "../context/errors.ts";
import { shellWord } from "../output/shell-word.ts";
import { checkedApiKey } from "./api-key.ts";
import type { Sourced } from "./base-url.ts";
import { type KeyStoreName, keyStoreNames, openKeyStore } from "./key-stores.ts";
import type { Profile } from "./profile.ts";
import { defaultProfile, readProfiles } from "./profiles.ts";

/**
 * The stored API key of a profile, and where it is stored. It belongs to one origin and is sent to no other. Throws
 * KeyError (exit 4) if the profile has none for this base URL. The keychain is asked only if the settings say that it
 * has the key.
 */
export async function storedKey(
  baseUrl: string,
  name: string,
  context: Pick<Context, "env" | "keychain">,
): Promise<Sourced> {
  const profiles = await readProfiles(context.env);
  const stored = keyStoreOf(profiles.find(name));
  const login = `cat login${name === defaultProfile ? "" : ` --profile ${shellWord(name)}`}`;
  if (stored === null) {
    throw new KeyError("no API key", {
      hint: `Run: ${login} (or set CAT_API_KEY). To try it without an account, add --mock.`,
    });
  }
  const { origin } = parseBaseUrl(baseUrl);
  if (stored.origin !== origin) {
    throw new KeyError(`the key of profile ${name} is for ${stored.origin} and is not sent to ${origin}`, {
      code: "key_of_another_origin",
      hint: `Set CAT_API_KEY, or sign in there: cat login --profile NAME --base-url ${shellWord(origin)}`,
    });
  }
  const store = openKeyStore(stored.store, name, profiles.path, context);
  const key = await store.read({ profile: name, origin });
  if (key === null) {
    const isKeychain = stored.store === "keychain";
    throw new KeyError(`no API key in ${store.place}${isKeychain ? ": it is locked or empty" : ""}`, {
      code: "stored_key_missing",
      hint: `${isKeychain ? "Unlock it and run the command again, or sign in again" : "Sign in again"}: ${login}`,
    });
  }
  return {
    value: checkedApiKey(key, { source: `in ${store.place}`, hint: `Run: ${login}` }),
    source: store.place,
  };
}

/** Where the settings of a profile say that its key is; null without a key. */
export function keyStoreOf(profile: Profile | null): { store: KeyStoreName; origin: string } | null {
  const { keyStore, keyOrigin } = profile ?? {};
  const store = keyStoreNames.find((name) => name === keyStore);
  return store === undefined || typeof keyOrigin !== "string" ? null : { store, origin: keyOrigin };
}
