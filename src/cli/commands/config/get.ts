import type { Command } from "commander";
import { CatError } from "../../../errors.ts";
import type { App } from "../../app/app.ts";
import { UsageError } from "../../context/errors.ts";
import { command, examples } from "../../flags/command.ts";
import { readProfiles } from "../../settings/profiles.ts";
import { profileName } from "../../settings/settings.ts";
import { settingOf, shownNames } from "./setting.ts";

/** `cat config get`: parses the argument; `run` does the work. */
export const getCommand = (app: App, run = getSetting): Command =>
  command("get")
    .summary("show a setting")
    .usage("NAME [flags]")
    .description("Print a setting of the profile. Exits with 5 if it has no value.")
    .argument("<NAME>", "name of the setting")
    .addHelpText("after", examples([["the address of a profile", "cat config get baseUrl --profile live"]]))
    .action((name: string) => run(app, { name }));

/** Prints the value of a setting in the config file; flags and variables are ignored. */
export async function getSetting({ globals, context, io }: App, { name }: { name: string }): Promise<void> {
  const setting = shownNames.find((one) => one === name) ?? settingOf(name);
  const profiles = await readProfiles(context.env);
  const { name: profile, source } = profileName(globals, context.env, profiles);
  if (profiles.find(profile) === null && source !== null) {
    throw new UsageError(`unknown profile ${JSON.stringify(profile)} (from ${source})`, {
      code: "unknown_profile",
      param: "profile",
      hint: "Check the name. To list the profiles: cat config list",
    });
  }
  const fields = { ...profiles.find(profile), active: profiles.active } as Readonly<Record<string, unknown>>;
  const value = fields[setting];
  if (value === undefined) {
    throw new CatError(`profile ${profile} has no ${setting}`, {
      type: "not_found",
      code: "setting_not_found",
      hint: hintFor(setting),
    });
  }
  if (io.json) return io.jsonData(value);
  await io.data(`${io.visible(typeof value === "string" ? value : JSON.stringify(value))}\n`);
}

const hintFor = (setting: string): string =>
  setting === "keyStore" || setting === "keyOrigin"
    ? "To store an API key: cat login"
    : setting === "columns"
      ? "cat import sets it on a terminal, when it asks about unknown columns."
      : `To set it: cat config set ${setting} VALUE`;
