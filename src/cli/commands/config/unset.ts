import type { Command } from "commander";
import type { App } from "../../app/app.ts";
import { command, examples } from "../../flags/command.ts";
import { readProfiles } from "../../settings/profiles.ts";
import { profileName } from "../../settings/settings.ts";
import { updateConfig, updateProfile } from "../../settings/update-config.ts";
import { settingOf } from "./setting.ts";

/** `cat config unset`: parses the argument; `run` does the work. */
export const unsetCommand = (app: App, run = unsetSetting): Command =>
  command("unset")
    .summary("remove a setting")
    .usage("NAME [flags]")
    .description("Remove a setting of the profile, or the saved columns of cat import (columns).")
    .argument("<NAME>", "name of the setting")
    .addHelpText(
      "after",
      examples([
        ["remove the label of a profile", "cat config unset label --profile live"],
        ["forget the columns that cat import saved", "cat config unset columns"],
      ]),
    )
    .action((name: string) => run(app, { name }));

/** Removes a setting; succeeds if it has no value. */
export async function unsetSetting({ globals, context, io }: App, { name }: { name: string }): Promise<void> {
  const setting = name === "columns" ? name : settingOf(name);
  const profiles = await readProfiles(context.env);
  if (setting === "active") {
    if (profiles.exists) await updateConfig(context, ({ active: _, ...others }) => others);
    return io.note("The active profile is default.");
  }
  const { name: profile } = profileName(globals, context.env, profiles);
  if (Object.hasOwn(profiles.find(profile) ?? {}, setting))
    await updateProfile(context, profile, ({ [setting]: _, ...others }) => others);
  await io.note(io.visible(`Removed ${setting} of profile ${profile}.`));
}
