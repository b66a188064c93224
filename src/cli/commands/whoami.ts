import type { Command } from "commander";
import { maskedKey } from "../../http/mask.ts";
import type { App } from "../app/app.ts";
import { command, examples } from "../flags/command.ts";
import { type RawPrintFlags, readPrintFlags, withPrintFlags } from "../flags/print-flags.ts";
import type { Printing } from "../output/printing.ts";
import { namedForm } from "../resources/named-form.ts";
import { readProfiles } from "../settings/profiles.ts";
import { baseUrlOf, keyInUse, profileName } from "../settings/settings.ts";
import { checkKey, type KeyAccess } from "./whoami/check-key.ts";

/** `cat whoami`: parses the flags; `run` does the work. */
export const whoamiCommand = (app: App, run = whoami): Command =>
  withPrintFlags(
    command("whoami")
      .usage("[flags]")
      .description(
        "Show the profile, the address and the API key in use, and check the key at the service. Exits with 4 without a valid key.",
      ),
  )
    .addHelpText(
      "after",
      examples([
        ["see what the next command will use", "cat whoami"],
        ["check a profile in a script", "cat whoami --profile ci --quiet"],
      ]),
    )
    .action((flags: RawPrintFlags) => run(app, readPrintFlags(flags, whoamiForm)));

/** The settings in use. */
interface WhoamiRow extends KeyAccess {
  readonly profile: string | null;
  readonly label?: string;
  readonly base_url: string;
  readonly base_url_source: string | null;
  readonly key: string | null;
  readonly key_source: string | null;
}

const names = [
  "profile",
  "label",
  "base_url",
  "base_url_source",
  "key",
  "key_source",
  "products_read",
] as const;
const whoamiForm = namedForm<WhoamiRow>(
  names.map((name) => ({ name, value: (row) => row[name] })),
  names,
);

/** Prints the settings in use and where each comes from, and whether the key can read products. */
export async function whoami(app: App, printing: Printing<WhoamiRow>): Promise<void> {
  const { globals, context, io } = app;
  const connection = await app.connection();
  const profiles = await readProfiles(context.env);
  const { name } = profileName(globals, context.env, profiles);
  const access = await checkKey(app, connection);
  const { baseUrl, apiKey } = connection;
  const { label } = profiles.find(name) ?? {};
  const shown: WhoamiRow = {
    profile: globals.mock ? null : name,
    ...(typeof label === "string" && !globals.mock ? { label } : {}),
    base_url: baseUrl,
    base_url_source: globals.mock ? "--mock" : ((await baseUrlOf(globals, context.env))?.source ?? null),
    key: maskedKey(apiKey),
    key_source: globals.mock ? "--mock" : (await keyInUse(baseUrl, globals, context)).source,
    ...access,
  };
  await io.resource(shown, printing);
}
