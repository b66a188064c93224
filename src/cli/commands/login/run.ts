import { parseBaseUrl } from "../../../client/base-url.ts";
import { maskedKey } from "../../../http/mask.ts";
import type { App } from "../../app/app.ts";
import { openKeyStore } from "../../settings/key-stores.ts";
import { readProfiles } from "../../settings/profiles.ts";
import { keyStoreOf } from "../../settings/stored-key.ts";
import { updateConfig, updateProfile } from "../../settings/update-config.ts";
import { checkKey } from "../whoami/check-key.ts";
import { askForSettings } from "./ask.ts";
import type { LoginFlags } from "./flags.ts";

/**
 * Asks for what is missing, checks the key at the service, and only then stores it and the base URL. The first profile
 * becomes the active one.
 */
export async function login(app: App, flags: LoginFlags): Promise<void> {
  const { context, io, secrets } = app;
  const profiles = await readProfiles(context.env);
  const { profile, baseUrl, key } = await askForSettings(app, profiles, flags);
  secrets.add(key);
  const access = await checkKey(app, { baseUrl, apiKey: key });
  const owner = { profile, origin: parseBaseUrl(baseUrl).origin };
  const store = openKeyStore(flags.store, profile, profiles.path, context);
  const before = keyStoreOf(profiles.find(profile));
  await store.write(owner, key);
  const isOther = before === null || before.store !== flags.store || before.origin !== owner.origin;
  const isFirst = profiles.find(profiles.active) === null;
  try {
    await updateProfile(context, profile, (own) => ({
      ...own,
      baseUrl,
      keyStore: flags.store,
      keyOrigin: owner.origin,
    }));
    if (isFirst) await updateConfig(context, (config) => ({ ...config, active: profile }));
  } catch (error) {
    // A key that no settings name would stay unnoticed.
    if (isOther) await store.remove(owner).catch(() => {});
    throw error;
  }
  if (before !== null && isOther) {
    await openKeyStore(before.store, profile, profiles.path, context).remove({
      profile,
      origin: before.origin,
    });
  }
  if (io.json) {
    const masked = maskedKey(key);
    await io.jsonData({ profile, base_url: baseUrl, key: masked, key_source: store.place, ...access });
    return;
  }
  const say = (text: string) => io.note(io.visible(text));
  await say(
    `Signed in to ${baseUrl} with profile ${profile}. The key ${maskedKey(key)} is in ${store.place}.`,
  );
  if (!access.products_read) await say("The key is valid, but lacks the scope products:read.");
  if (flags.store === "file") await say("The file is not encrypted. Only your user can read it.");
  if (!isFirst && profiles.active !== profile)
    await say(`To use this profile by default: cat config set active ${profile}`);
  if (context.env.CAT_API_KEY?.trim()) await say("CAT_API_KEY is set and overrides the stored key.");
}
