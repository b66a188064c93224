import type { Command } from "commander";
import { didYouMean, questionFor } from "../../contract/did-you-mean.ts";
import { CatError } from "../../errors.ts";
import { visible } from "../../text.ts";
import type { App } from "../app/app.ts";
import { labelColors } from "../app/confirm-action.ts";
import type { Context } from "../context/context.ts";
import { UsageError } from "../context/errors.ts";
import { command, group } from "../flags/command.ts";
import { type RawPrintFlags, readPrintFlags, withPrintFlags } from "../flags/print-flags.ts";
import { either } from "../flags/usage-error.ts";
import { named } from "../flags/values.ts";
import type { MapFile } from "../mapping/map-file.ts";
import { namedForm } from "../resources/forms.ts";
import { checkedNotifyUrl, maskNotifyUrl } from "../settings/notify-url.ts";
import { looksLikeKey, namedProfile } from "../settings/profile-names.ts";
import { configPath, type Profiles, profileKeys, readProfiles } from "../settings/profiles.ts";
import {
  checkedBaseUrl,
  checkedSignatureHeader,
  existingProfile,
  insecureHosts,
  profileInUse,
  unknownProfile,
} from "../settings/settings.ts";
import { updateConfig, updateProfile } from "../settings/update-config.ts";

export const configCommand = (app: App): Command =>
  group("config", "View and change the settings of your profiles. API keys: cat login, cat logout.", [
    listCommand(app),
    getCommand(app),
    setCommand(app),
    unsetCommand(app),
    pathCommand(app),
    mappingCommand(app),
  ]);

/** `active` is a setting of the file, the others of a profile. */
const settingNames = ["active", "baseUrl", "signatureHeader", "label", "color", "excel", "notify"] as const;
type SettingName = (typeof settingNames)[number];

/** The value of a setting as it is stored. Throws UsageError for one that it cannot have. */
const checks: Readonly<
  Record<SettingName, (value: string, profiles: Profiles, env: Context["env"]) => string | boolean>
> = {
  active(value, profiles) {
    if (profiles.find(value) !== null) return value;
    const hint = "To list the profiles: cat config list. To add one: cat login --profile NAME";
    throw unknownProfile(JSON.stringify(value), { param: "active", hint });
  },
  baseUrl: (value, _profiles, env) =>
    checkedBaseUrl({ value, source: "the command line" }, insecureHosts(env)),
  signatureHeader: (value) => checkedSignatureHeader(value, "the command line"),
  label(value) {
    if (looksLikeKey(value)) throw invalid("label", "it looks like an API key");
    if (value.trim() !== "" && value.length <= 40 && visible(value) === value) return value.trim();
    throw invalid("label", "use up to 40 characters, for example production");
  },
  color(value) {
    if ((labelColors as readonly string[]).includes(value)) return value;
    throw invalid("color", `use ${either(labelColors)}`);
  },
  excel(value) {
    if (value === "true" || value === "false") return value === "true";
    throw invalid("excel", "use true or false");
  },
  notify: (value) => checkedNotifyUrl(value, "notify") && value.trim(),
};

const invalid = (name: string, rule: string): UsageError =>
  new UsageError(`invalid ${name}: ${rule}`, {
    code: "invalid_setting",
    param: name,
    hint: `To remove it: cat config unset ${name}`,
  });

/** The setting of that name. Throws UsageError, without a value that may be a key. */
function toSetting(name: string): SettingName {
  const setting = settingNames.find((known) => known === name);
  if (setting !== undefined) return setting;
  const near = questionFor(didYouMean(name, settingNames, { url: "baseUrl", host: "baseUrl" }), "");
  throw new UsageError(`unknown setting ${JSON.stringify(name)}`, {
    code: "unknown_setting",
    hint: /key|secret|token/i.test(name)
      ? "To store an API key: cat login. To remove it: cat logout"
      : `${near === "" ? "" : `D${near.slice(1)} `}Use ${either(settingNames)}.`,
  });
}

const settingFields = ["profile", "active", "setting", "value"] as const;

type SettingRow = Readonly<Record<(typeof settingFields)[number], unknown>> & { readonly profile: string };

const settingForm = namedForm<SettingRow>(
  [
    { name: "profile", value: ({ profile }) => profile, cut: "last" },
    { name: "active", value: ({ active }) => (active ? "yes" : ""), least: 6 },
    { name: "setting", value: ({ setting }) => toText(setting), cut: "never" },
    { name: "value", value: ({ value }) => toText(value) },
  ],
  settingFields,
);

const toText = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

/** Prints a row per setting. API keys are not settings; a row names the store of each. */
const listCommand = (app: App): Command =>
  withPrintFlags(
    command("list", {
      summary: "list the settings of all profiles",
      about: "List the settings in the config file: of all profiles, or of one with --profile.",
      examples: [
        ["all profiles", "cat config list"],
        ["one profile, for a script", "cat config list --profile live --json"],
      ],
    }),
  ).action(async (flags: RawPrintFlags) => {
    const printing = readPrintFlags(flags, settingForm);
    const { globals, context, io } = app;
    const profiles = await readProfiles(context);
    const only = namedProfile(globals, context.env)?.name;
    for (const name of profiles.names) maskNotifyUrl(app.secrets, `${profiles.find(name)?.notify ?? ""}`);
    const rows = profiles.names
      .filter((name) => only === undefined || name === only)
      .flatMap((profile) => {
        const active = profile === profiles.active;
        return Object.entries(profiles.find(profile) ?? {})
          .filter(([name]) => (profileKeys as readonly string[]).includes(name))
          .map(([setting, value]): SettingRow => ({ profile, active, setting, value }));
      });
    await io.show(printing, rows);
    if (rows.length === 0) await io.note("No settings yet. To sign in: cat login");
  });

const setting = ["<NAME>", "name of the setting"] as const;

/** Prints the value of a setting in the config file; flags and variables are ignored. */
const getCommand = (app: App): Command =>
  command("get", {
    summary: "show a setting",
    usage: "NAME [flags]",
    about: "Print a setting of the profile. Exits with 5 if it has no value.",
    examples: [["the address of a profile", "cat config get baseUrl --profile live"]],
  })
    .argument(...setting)
    .action(async (typed: string) => {
      const { globals, context, io } = app;
      const name = profileKeys.find((key) => key === typed) ?? toSetting(typed);
      const { name: profile, settings, profiles } = await existingProfile(globals, context);
      const value = name === "active" ? profiles.active : settings?.[name];
      if (value === undefined) {
        throw new CatError(`profile ${profile} has no ${name}`, {
          type: "not_found",
          code: "setting_not_found",
          hint: setters[name] ?? `To set it: cat config set ${name} VALUE`,
        });
      }
      if (io.json) return io.jsonData(value);
      await io.data(`${io.visible(toText(value))}\n`);
    });

/** The answers that an earlier version has kept, and still reads. */
const answerKeys = ["columns", "values", "encoding", "mappings", "sheets"] as const;

/** How to set what `cat config set` does not. */
const setters: Readonly<Record<string, string>> = {
  keyStore: "To store an API key: cat login",
  keyOrigin: "To store an API key: cat login",
  ...Object.fromEntries(
    answerKeys.map((key) => [key, "Choices are in catalogue.map.json: cat config mapping"]),
  ),
};

/** Stores a checked setting. A profile named by a flag or variable is created. */
const setCommand = (app: App): Command =>
  command("set", {
    summary: "change a setting",
    usage: "NAME VALUE [flags]",
    about:
      "Change a setting of the profile: baseUrl, signatureHeader, label, color, excel or notify; or the active profile.",
    examples: [
      ["use another profile by default", "cat config set active staging"],
      ["show the word production in questions, in red", "cat config set label production --profile live"],
      ["its color", "cat config set color red --profile live"],
      ["report the end of each run to your monitoring", "cat config set notify https://hc-ping.com/ID/"],
      ["write CSV output for Excel, as with --excel", "cat config set excel true"],
    ],
  })
    .argument(...setting)
    .argument("<VALUE>", "its new value")
    .action(async (typed: string, given: string) => {
      const { globals, context } = app;
      const name = toSetting(typed);
      const profiles = await readProfiles(context);
      const value = checks[name](given, profiles, context.env);
      if (name === "notify") maskNotifyUrl(app.secrets, given);
      if (name === "active") {
        await updateConfig(context, (config) => ({ ...config, active: String(value) }));
        return report(app, { profile: null, setting: name, value }, `The active profile is ${value}.`);
      }
      const { name: profile } = await profileInUse(globals, context);
      await updateProfile(context, profile, (own) => ({ ...own, [name]: value }));
      await report(app, { profile, setting: name, value }, `Set ${name} of profile ${profile}.`);
    });

/** Reports a changed setting: an object with `--json`, else a note. Null: it was removed. */
const report = (
  { io }: App,
  change: { profile: string | null; setting: string; value: unknown },
  note: string,
) => (io.json ? io.jsonData(change) : io.note(io.visible(note)));

/** Removes a setting; succeeds if it has no value. */
const unsetCommand = (app: App): Command =>
  command("unset", {
    summary: "remove a setting",
    usage: "NAME [flags]",
    about:
      "Remove a setting of the profile, or choices that an earlier version has kept in it (columns, values, encoding, mappings, sheets). Later choices are in catalogue.map.json.",
    examples: [
      ["remove the label of a profile", "cat config unset label --profile live"],
      ["forget columns that an earlier version has saved", "cat config unset columns"],
    ],
  })
    .argument(...setting)
    .action(async (typed: string) => {
      const { globals, context } = app;
      const name = answerKeys.find((key) => key === typed) ?? toSetting(typed);
      const profiles = await readProfiles(context);
      if (name === "active") {
        if (profiles.exists) await updateConfig(context, ({ active: _, ...others }) => others);
        return report(app, { profile: null, setting: name, value: null }, "The active profile is default.");
      }
      const { name: profile, settings } = await profileInUse(globals, context);
      if (Object.hasOwn(settings ?? {}, name))
        await updateProfile(context, profile, ({ [name]: _, ...others }) => others);
      await report(app, { profile, setting: name, value: null }, `Removed ${name} of profile ${profile}.`);
    });

/** Prints the path of the config file, whether or not it exists. */
const pathCommand = (app: App): Command =>
  command("path", {
    summary: "show the path of the config file",
    about: "Print the path of the config file, whether or not it exists.",
    examples: [["open the file in an editor", '$EDITOR "$(cat config path)"']],
  }).action(async () => {
    const path = await configPath(app.context);
    if (app.io.json) return app.io.jsonData({ path });
    await app.io.data(`${app.io.visible(path)}\n`);
  });

const mappingFields = ["kind", "field", "name", "read_as", "files", "from"] as const;

/** A column or a value, what it is read as, in which files, and where that is written. */
type MappingRow = Readonly<Record<(typeof mappingFields)[number], string | null>>;

const mappingForm = namedForm<MappingRow>(
  [
    { name: "kind", value: ({ kind }) => kind, cut: "never" },
    { name: "field", value: ({ field }) => field ?? "" },
    { name: "name", value: ({ name }) => name },
    { name: "read as", value: ({ read_as }) => read_as || "no value" },
    { name: "files", value: ({ files }) => files, cut: "never" },
    { name: "from", value: ({ from }) => from },
  ],
  mappingFields,
);

/** `cat config mapping`: the files of mappings, as a sheet in the current folder is read. */
const mappingCommand = (app: App): Command =>
  withPrintFlags(
    command("mapping", {
      summary: "list the columns and values that are mapped",
      about:
        "List how columns and values of files are read: by catalogue.map.json in the current folder, " +
        "then by that of the profile. Flags (--map, --map-value) come before both.",
      examples: [["for a script", "cat config mapping --json"]],
    }).option("--map-file <FILE>", "file with columns and values (default: catalogue.map.json)"),
  ).action(async (flags: RawPrintFlags & { mapFile?: string }) => {
    const printing = readPrintFlags(flags, mappingForm);
    const { vocabularies } = await import("../mapping/map-file.ts");
    const { readMapFiles } = await import("../mapping/map-files.ts");
    const { oldAnswers } = await import("../mapping/profile-mapping.ts");
    const mapFile = named("--map-file", flags.mapFile, "Choose a file.");
    const found = (await readMapFiles(app, { file: "-", mapFile })).map((file) => ({ file, files: "all" }));
    for (const words of vocabularies)
      for (const file of await oldAnswers(app, words)) found.push({ file, files: words.kind });
    const rows = found.flatMap(({ file, files }, at) =>
      mappingRows(
        file,
        files,
        found.slice(0, at).map(({ file }) => file),
      ),
    );
    await app.io.show(printing, rows);
    if (rows.length === 0) await app.io.note("No columns or values are mapped yet.");
  });

/** The rows of a file of mappings, without those that come before it. */
const mappingRows = (
  { map, values, encoding, sheets, name: from }: MapFile,
  files: string,
  earlier: readonly MapFile[],
): MappingRow[] => {
  const rows = (
    kind: string,
    field: string | null,
    some: ReadonlyMap<string, string>,
    known: (file: MapFile) => ReadonlyMap<string, string> | undefined,
  ): MappingRow[] =>
    [...some]
      .filter(([name]) => !earlier.some((file) => known(file)?.has(name)))
      .map(([name, read_as]) => ({ kind, field, name, read_as, files, from }));
  return [
    ...rows("column", null, map, ({ map }) => map),
    ...[...values].flatMap(([field, some]) => rows("value", field, some, ({ values }) => values.get(field))),
    ...(encoding === undefined
      ? []
      : [{ kind: "encoding", field: null, name: "not UTF-8", read_as: encoding, files, from }]),
    ...rows("sheet", null, sheets, ({ sheets }) => sheets),
  ];
};
