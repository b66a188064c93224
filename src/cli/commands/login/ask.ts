import type { App } from "../../app/app.ts";
import { canAsk, openPrompts, type Prompts } from "../../app/prompts.ts";
import { UsageError } from "../../context/errors.ts";
import { checkedApiKey, isApiKey } from "../../settings/api-key.ts";
import { checkedBaseUrl } from "../../settings/base-url.ts";
import { isSet, namedProfile } from "../../settings/profile-name.ts";
import { checkedProfileName } from "../../settings/profile-name-rule.ts";
import type { Profiles } from "../../settings/profiles.ts";
import { baseUrlOf } from "../../settings/settings.ts";
import type { LoginFlags } from "./flags.ts";
import { readKey } from "./read-key.ts";

/** What a login stores. */
interface LoginSettings {
  readonly profile: string;
  readonly baseUrl: string;
  readonly key: string;
}

/** The settings of a login, by flag, environment, profile or question. Throws UsageError without a terminal. */
export async function askForSettings(
  app: App,
  profiles: Profiles,
  { withKey }: LoginFlags,
): Promise<LoginSettings> {
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
  const named = namedProfile(globals, context.env);
  const profile = named?.name ?? (await askForProfile(prompts, profiles));
  // The address of a profile can be changed here; that of a flag or a variable was chosen just now.
  const isChosen = globals.baseUrl !== undefined || isSet(context.env.CAT_BASE_URL);
  const isKnown = isChosen || profiles.find(profile) !== null;
  const known = isKnown ? await baseUrlOf({ ...globals, profile }, context.env) : null;
  const baseUrl =
    prompts === null || isChosen
      ? checkedBaseUrl(known ?? missing())
      : checkedBaseUrl({ value: await askForUrl(prompts, known?.value), source: "the prompt" });
  const hint = "Use the key only: it starts with ak_ and is one word.";
  const key =
    prompts === null
      ? checkedApiKey(await readKey(context.stdin), { source: "on standard input", hint })
      : await prompts.secret("API key (not shown):", (text) => isApiKey(text.trim()) || hint);
  return { profile, baseUrl, key: key.trim() };
}

const askForProfile = async (prompts: Prompts | null, profiles: Profiles): Promise<string> =>
  prompts === null
    ? profiles.active
    : (
        await prompts.input(
          "Profile:",
          profiles.active,
          (text) => problemOf(() => checkedProfileName(text.trim(), "the prompt")),
          { clears: true },
        )
      ).trim();

const askForUrl = (prompts: Prompts, usual: string | undefined): Promise<string> =>
  prompts.input("Address of the service:", usual, (text) =>
    problemOf(() => checkedBaseUrl({ value: text, source: "the prompt" })),
  );

/** True, or the problem as a prompt shows it. */
function problemOf(check: () => unknown): true | string {
  try {
    check();
    return true;
  } catch (error) {
    const { message, hint } = error as UsageError;
    return `${message.replace(" (from the prompt)", "")}. ${hint ?? ""}`.trim();
  }
}

function missing(): never {
  throw new UsageError("no service URL", {
    code: "missing_base_url",
    param: "base_url",
    hint: "Add --base-url URL: cat login --base-url URL --with-key < keyfile",
  });
}
