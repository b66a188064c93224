import type { Command } from "commander";
import type { App } from "../../app/app.ts";
import { command, examples } from "../../flags/command.ts";
import { readProfiles } from "../../settings/profiles.ts";
import { profileName } from "../../settings/settings.ts";
import { updateConfig, updateProfile } from "../../settings/update-config.ts";
import { settingOf, settings } from "./setting.ts";

/** `cat config set`: parses the arguments; `run` does the work. */
export const setCommand = (app: App, run = setSetting): Command =>
  command("set")
    .summary("change a setting")
    .usage("NAME VALUE [flags]")
    .description(
      "Change a setting of the profile: baseUrl, signatureHeader, label or color; or the active profile.",
    )
    .argument("<NAME>", "name of the setting")
    .argument("<VALUE>", "its new value")
    .addHelpText(
      "after",
      examples([
        ["use another profile by default", "cat config set active staging"],
        ["show the word production in questions, in red", "cat config set label production --profile live"],
        ["its color", "cat config set color red --profile live"],
      ]),
    )
    .action((name: string, value: string) => run(app, { name, value }));

/** Stores a setting after a check of its value. A profile that is named by a flag or a variable is created. */
export async function setSetting(
  { globals, context, io }: App,
  { name, value }: { name: string; value: string },
): Promise<void> {
  const setting = settingOf(name);
  const profiles = await readProfiles(context.env);
  const checked = settings[setting](value, profiles);
  if (setting === "active") {
    await updateConfig(context, (config) => ({ ...config, active: checked }));
    return io.note(io.visible(`The active profile is ${checked}.`));
  }
  const { name: profile } = profileName(globals, context.env, profiles);
  await updateProfile(context, profile, (own) => ({ ...own, [setting]: checked }));
  await io.note(io.visible(`Set ${setting} of profile ${profile}.`));
}
