import type { Command } from "commander";
import type { App } from "../app/app.ts";
import { UsageError } from "../context/errors.ts";
import { command, examples } from "../flags/command.ts";
import { openKeyStore } from "../settings/key-stores.ts";
import { readProfiles } from "../settings/profiles.ts";
import { profileName } from "../settings/settings.ts";
import { keyStoreOf } from "../settings/stored-key.ts";
import { updateProfile } from "../settings/update-config.ts";

/** `cat logout`: parses the flags; `run` does the work. */
export const logoutCommand = (app: App, run = logout): Command =>
  command("logout")
    .usage("[flags]")
    .description("Remove the stored API key of a profile. Its other settings are kept.")
    .addHelpText(
      "after",
      examples([
        ["sign out of the active profile", "cat logout"],
        ["sign out of another profile", "cat logout --profile staging"],
      ]),
    )
    .action(async () => {
      if (app.globals.mock) {
        throw new UsageError("logout cannot be used with --mock", { hint: "Remove --mock." });
      }
      await run(app);
    });

/** Removes the key of the profile; succeeds if it has none. */
export async function logout({ globals, context, io }: App): Promise<void> {
  const profiles = await readProfiles(context.env);
  const { name, source } = profileName(globals, context.env, profiles);
  const profile = profiles.find(name);
  if (profile === null && source !== null) {
    throw new UsageError(`unknown profile ${JSON.stringify(name)} (from ${source})`, {
      code: "unknown_profile",
      param: "profile",
      hint: "Check the name. To list the profiles: cat config list",
    });
  }
  const stored = keyStoreOf(profile);
  if (stored !== null) {
    const store = openKeyStore(stored.store, name, profiles.path, context);
    await store.remove({ profile: name, origin: stored.origin });
    await updateProfile(context, name, ({ keyStore: _store, keyOrigin: _origin, ...others }) => others);
  }
  if (io.json) return io.jsonData({ profile: name, removed: stored !== null });
  const done = stored === null ? `Profile ${name} has no stored key.` : `Removed the key of profile ${name}.`;
  await io.note(io.visible(done));
  if (context.env.CAT_API_KEY?.trim()) await io.note("CAT_API_KEY is still set.");
}
