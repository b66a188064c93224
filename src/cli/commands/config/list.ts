import type { Command } from "commander";
import type { App } from "../../app/app.ts";
import { command, examples } from "../../flags/command.ts";
import { type RawPrintFlags, readPrintFlags, withPrintFlags } from "../../flags/print-flags.ts";
import type { Printing } from "../../output/printing.ts";
import { namedForm } from "../../resources/named-form.ts";
import { namedProfile } from "../../settings/profile-name.ts";
import { readProfiles } from "../../settings/profiles.ts";
import { shownNames } from "./setting.ts";

/** A setting as a row of the list. */
interface SettingRow {
  readonly profile: string;
  readonly active: boolean;
  readonly setting: string;
  readonly value: unknown;
}

/** `cat config list`: parses the flags; `run` does the work. */
export const listCommand = (app: App, run = listSettings): Command =>
  withPrintFlags(
    command("list")
      .summary("list the settings of all profiles")
      .usage("[flags]")
      .description("List the settings in the config file: of all profiles, or of one with --profile."),
  )
    .addHelpText(
      "after",
      examples([
        ["all profiles", "cat config list"],
        ["one profile, for a script", "cat config list --profile live --json"],
      ]),
    )
    .action((flags: RawPrintFlags) => run(app, readPrintFlags(flags, settingForm)));

const settingForm = namedForm<SettingRow>(
  [
    { name: "profile", value: (row) => row.profile, cut: "last" },
    { name: "active", value: (row) => (row.active ? "yes" : ""), least: 6 },
    { name: "setting", value: (row) => row.setting, cut: "never" },
    { name: "value", value: ({ value }) => (typeof value === "string" ? value : JSON.stringify(value)) },
  ],
  ["profile", "active", "setting", "value"],
);

/** Prints a row per setting. API keys are not settings; a row names the store of each. */
export async function listSettings(
  { globals, context, io }: App,
  printing: Printing<SettingRow>,
): Promise<void> {
  const profiles = await readProfiles(context.env);
  const only = namedProfile(globals, context.env)?.name;
  const rows = profiles.names
    .filter((name) => only === undefined || name === only)
    .flatMap((profile) => {
      const fields = Object.entries(profiles.find(profile) ?? {});
      return fields
        .filter(([name]) => (shownNames as readonly string[]).includes(name))
        .map(
          ([setting, value]): SettingRow => ({
            profile,
            active: profile === profiles.active,
            setting,
            value,
          }),
        );
    });
  await io.show(printing, rows);
  if (rows.length === 0) await io.note("No settings yet. To sign in: cat login");
}
