import { type Command, Option } from "commander";
import { CatError } from "../../errors.ts";
import { maskedKey } from "../../http/mask.ts";
import { decodedText } from "../../text.ts";
import type { App } from "../app/app.ts";
import { canAsk, openPrompts } from "../app/prompts.ts";
import type { Prompts } from "../app/terminal-prompts.ts";
import { UsageError } from "../context/errors.ts";
import { KeychainError } from "../context/os-keychain.ts";
import { command } from "../flags/command.ts";
import { type RawPrintFlags, readPrintFlags, withPrintFlags } from "../flags/print-flags.ts";
import { namedForm } from "../resources/forms.ts";
import { type KeyOwner, openKeyStore } from "../settings/key-stores.ts";
import { checkedProfileName, isSet, namedProfile } from "../settings/profile-names.ts";
import {
  type KeyStoreName,
  keyStoreNames,
  type Profiles,
  readProfiles,
  toKeyStore,
} from "../settings/profiles.ts";
import {
  type Connection,
  checkedApiKey,
  checkedBaseUrl,
  existingProfile,
  insecureHosts,
  isApiKey,
  keyInUse,
  profileInUse,
  readBaseUrl,
} from "../settings/settings.ts";
import { updateConfig, updateProfile } from "../settings/update-config.ts";

export const loginCommand = (app: App): Command =>
  command("login", {
    about:
      "Store the address of the service and your API key in a profile. The key is checked first, and kept in the keychain of your system.",
    examples: [
      ["sign in; the key is not shown while you paste it", "cat login"],
      [
        "sign in from a script",
        "cat login --profile ci --base-url https://imaging.example.com --with-key < keyfile",
      ],
      ["on a server without a keychain, without a question about it", "cat login --store file"],
    ],
  })
    .option("--with-key", "read the key from standard input instead of asking for it")
    .addOption(
      new Option("--store <PLACE>", "where to keep the key: keychain, or file (unencrypted, mode 0600)")
        .choices(keyStoreNames)
        .default(undefined, "keychain"),
    )
    .action((flags: LoginFlags) => login(app, flags));

interface LoginFlags {
  readonly withKey?: boolean;
  readonly store?: KeyStoreName;
}

/** Asks what is missing, checks the key, then stores it and the base URL. A first profile becomes active. */
async function login(app: App, flags: LoginFlags): Promise<void> {
  const { globals, context, io, secrets } = app;
  if (globals.mock) throw withMock("login", "Remove --mock. The mock service of --mock needs no key.");
  const profiles = await readProfiles(context);
  const { profile, baseUrl, place, key } = await askForSettings(app, profiles, flags);
  secrets.add(key);
  const hasScope = await canReadProducts(app, { baseUrl, apiKey: key });
  const { origin } = new URL(baseUrl);
  const store = openKeyStore(place, profile, profiles.path, context);
  const before = toKeyStore(profiles.find(profile));
  await store.write({ profile, origin }, key);
  const isOtherKey = before === null || before.store !== place || before.origin !== origin;
  const isFirst = profiles.find(profiles.active) === null;
  try {
    const settings = { baseUrl, keyStore: place, keyOrigin: origin };
    await updateProfile(context, profile, (own) => ({ ...own, ...settings }));
    if (isFirst) await updateConfig(context, (config) => ({ ...config, active: profile }));
  } catch (error) {
    // A key that no settings name would stay unnoticed.
    if (isOtherKey) await store.remove({ profile, origin }).catch(() => {});
    throw error;
  }
  if (before !== null && isOtherKey) {
    const old = openKeyStore(before.store, profile, profiles.path, context);
    await old.remove({ profile, origin: before.origin });
  }
  const masked = maskedKey(key);
  const shown = { profile, base_url: baseUrl, key: masked, key_source: store.place, products_read: hasScope };
  if (io.json) return io.jsonData(shown);
  const say = (text: string) => io.note(io.visible(text));
  await say(`Signed in to ${baseUrl} with profile ${profile}. The key ${masked} is in ${store.place}.`);
  if (!hasScope) await say("The key is valid, but lacks the scope products:read.");
  if (place === "file") await say("The file is not encrypted. Only your user can read it.");
  if (!isFirst && profiles.active !== profile)
    await say(`To use this profile by default: cat config set active ${profile}`);
  if (isSet(context.env.CAT_API_KEY)) await say("CAT_API_KEY is set and overrides the stored key.");
}

const withMock = (verb: string, hint: string): UsageError =>
  new UsageError(`${verb} cannot be used with --mock`, { hint });

/** The settings of a login, by flag, variable, profile or question. Throws UsageError without a terminal. */
async function askForSettings(
  app: App,
  profiles: Profiles,
  { withKey = false, store }: LoginFlags,
): Promise<{ profile: string; baseUrl: string; place: KeyStoreName; key: string }> {
  const { globals, context } = app;
  // With --with-key, stdin has the key and cannot have answers.
  const prompts = !withKey && canAsk(app) ? await openPrompts(app) : null;
  if (!withKey && prompts === null) {
    throw new UsageError("no terminal to ask for the API key", {
      code: "key_needed",
      param: "--with-key",
      hint: "Add --with-key to read it from standard input: cat login --base-url URL --with-key < keyfile",
    });
  }
  const named = namedProfile(globals, context.env)?.name;
  const baseUrl = await askForAddress(app, profiles, named, prompts);
  const profile = named ?? (await askForProfile(prompts, profiles, baseUrl));
  const hint = "Use the key only: it starts with ak_ and is one word.";
  if (prompts === null) {
    const key = checkedApiKey(await readKey(context.stdin), { source: "on standard input", hint });
    return { profile, baseUrl, place: store ?? "keychain", key: key.trim() };
  }
  const owner = { profile, origin: new URL(baseUrl).origin };
  const place = store === "file" ? store : await askForPlace(prompts, { owner, store, profiles }, app);
  const key = await prompts.secret("API key (not shown):", (text) => isApiKey(text.trim()) || hint);
  return { profile, baseUrl, place, key: key.trim() };
}

/** The address by flag, environment, profile or question. */
async function askForAddress(
  { globals, context }: App,
  profiles: Profiles,
  named: string | undefined,
  prompts: Prompts | null,
): Promise<string> {
  // The address of a profile can be changed here; that of a flag or a variable was chosen just now.
  const isChosen = globals.baseUrl !== undefined || isSet(context.env.CAT_BASE_URL);
  const isKnown = isChosen || profiles.find(named ?? profiles.active) !== null;
  const known = isKnown
    ? await readBaseUrl({ ...globals, profile: named ?? profiles.active }, context)
    : null;
  if (prompts === null && known === null) {
    throw new UsageError("no service URL", {
      code: "missing_base_url",
      param: "base_url",
      hint: "Add --base-url URL: cat login --base-url URL --with-key < keyfile",
    });
  }
  const hosts = insecureHosts(context.env);
  const checkUrl = (value: string) => checkedBaseUrl({ value, source: "the prompt" }, hosts);
  if (prompts === null || isChosen) return checkedBaseUrl(known!, hosts);
  return checkUrl(await prompts.input("Address of the service:", known?.value, validator(checkUrl)));
}

/** Proposes the profile that has the address, else the active one. */
async function askForProfile(prompts: Prompts | null, profiles: Profiles, baseUrl: string): Promise<string> {
  const { active } = profiles;
  if (prompts === null) return active;
  const isOf = (name: string) => profiles.find(name)?.baseUrl === baseUrl;
  const usual = isOf(active) ? active : (profiles.names.find(isOf) ?? active);
  const check = validator((text) => checkedProfileName(text.trim(), "the prompt"));
  return (await prompts.input("Profile:", usual, check, { clears: true })).trim();
}

/** The keychain; else a file, after a question, which comes before the key is typed. */
async function askForPlace(
  prompts: Prompts,
  { owner, store, profiles }: { owner: KeyOwner; store: "keychain" | undefined; profiles: Profiles },
  { context, io }: App,
): Promise<KeyStoreName> {
  try {
    await openKeyStore("keychain", owner.profile, profiles.path, context).read(owner);
    return "keychain";
  } catch (error) {
    if (!(error instanceof KeychainError) || store !== undefined) throw error;
    const why = io.visible(error.message.replace(/^./, (letter) => letter.toUpperCase()));
    const question = `${why}. Keep the key in a file instead, not encrypted, that only your user can read?`;
    if (await prompts.confirm(question, true)) return "file";
    throw error;
  }
}

/** True for a text that a check accepts, else the problem as a prompt shows it. */
const validator = (check: (text: string) => unknown) => (text: string) => {
  try {
    check(text);
    return true;
  } catch (error) {
    const { message, hint } = error as UsageError;
    return `${message.replace(" (from the prompt)", "")}. ${hint ?? ""}`.trim();
  }
};

/** The text on stdin, for `--with-key`. Throws UsageError on a terminal, which would show the key. */
async function readKey(stdin: NodeJS.ReadableStream & { isTTY?: boolean }): Promise<string> {
  if (stdin.isTTY === true) {
    throw new UsageError("--with-key reads a file or a pipe, not the terminal", {
      code: "key_on_terminal",
      param: "--with-key",
      hint: "Run: cat login --with-key < keyfile. Without --with-key the key is asked for, and not shown.",
    });
  }
  const chunks: Buffer[] = [];
  for await (const chunk of stdin) {
    chunks.push(Buffer.from(chunk));
    // Larger input is another file by mistake.
    if (Buffer.concat(chunks).length > 64 * 1024) break;
  }
  return decodedText(Buffer.concat(chunks));
}

/** `cat logout` removes the key of the profile; succeeds if it has none. */
export const logoutCommand = (app: App): Command =>
  command("logout", {
    about: "Remove the stored API key of a profile. Its other settings are kept.",
    examples: [
      ["sign out of the active profile", "cat logout"],
      ["sign out of another profile", "cat logout --profile staging"],
    ],
  }).action(async () => {
    const { globals, context, io } = app;
    if (globals.mock) throw withMock("logout", "Remove --mock.");
    const { name, settings, profiles } = await existingProfile(globals, context);
    const stored = toKeyStore(settings);
    if (stored !== null) {
      const store = openKeyStore(stored.store, name, profiles.path, context);
      await store.remove({ profile: name, origin: stored.origin });
      await updateProfile(context, name, ({ keyStore: _store, keyOrigin: _origin, ...others }) => others);
    }
    if (io.json) return io.jsonData({ profile: name, removed: stored !== null });
    const done =
      stored === null ? `Profile ${name} has no stored key.` : `Removed the key of profile ${name}.`;
    await io.note(io.visible(done));
    if (isSet(context.env.CAT_API_KEY)) await io.note("CAT_API_KEY is still set.");
  });

const whoamiFields = [
  "profile",
  "label",
  "base_url",
  "base_url_source",
  "key",
  "key_source",
  "products_read",
] as const;

type Whoami = { readonly [field in (typeof whoamiFields)[number]]?: string | boolean | null };

const whoamiForm = namedForm<Whoami>(
  whoamiFields.map((name) => ({ name, value: (row) => row[name] })),
  whoamiFields,
);

/** `cat whoami`: the settings in use, their sources, and whether the key reads products. */
export const whoamiCommand = (app: App): Command =>
  withPrintFlags(
    command("whoami", {
      about:
        "Show the profile, the address and the API key in use, and check the key at the service. Exits with 4 without a valid key.",
      examples: [
        ["see what the next command will use", "cat whoami"],
        ["check a profile in a script", "cat whoami --profile ci --quiet"],
      ],
    }),
  ).action(async (flags: RawPrintFlags) => {
    const printing = readPrintFlags(flags, whoamiForm);
    const { globals, context, io } = app;
    const connection = await app.connection();
    const { baseUrl: base_url, apiKey } = connection;
    const { name, settings } = await profileInUse(globals, context);
    const products_read = await canReadProducts(app, connection);
    const key = maskedKey(apiKey);
    if (globals.mock) {
      const sources = { base_url_source: "--mock", key, key_source: "--mock" };
      return io.resource<Whoami>({ profile: null, base_url, ...sources, products_read }, printing);
    }
    const { label } = settings ?? {};
    const shown: Whoami = {
      profile: name,
      ...(typeof label === "string" && { label }),
      base_url,
      base_url_source: (await readBaseUrl(globals, context))?.source ?? null,
      key,
      key_source: (await keyInUse(base_url, globals, context)).source,
      products_read,
    };
    await io.resource(shown, printing);
  });

/**
 * Checks a key with one read, and resolves to whether it has the scope `products:read`: a key without it is
 * valid too. Throws the error of the service for a key that is not, and a network error if nothing is known
 * about it.
 */
async function canReadProducts(app: App, connection: Connection): Promise<boolean> {
  const { openClient } = await import("../app/open-client.ts");
  const client = openClient(app, connection);
  try {
    await client.products.list({ limit: 1 }, { signal: app.context.interrupt });
    return true;
  } catch (error) {
    if (error instanceof CatError && error.code === "insufficient_scope") return false;
    throw error;
  } finally {
    await client.close();
  }
}
