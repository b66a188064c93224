import { accessSync, constants, existsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { maskedKeys } from "../../../http/mask.ts";
import type { App } from "../../app/app.ts";
import { openProfileState, profileStatePath } from "../../app/profile-state.ts";
import { UsageError } from "../../context/errors.ts";
import { isSet } from "../../settings/profile-names.ts";
import { keyStoreOf, notAFolder, profileKeys, readProfiles } from "../../settings/profiles.ts";
import { baseUrlInUse, baseUrlOf, profileName } from "../../settings/settings.ts";
import { type CheckResult, ok, warning } from "./check.ts";

/** The lowest version of Node (CONTRIBUTING, Checks). */
const lowest = [20, 19] as const;

export function checkNode({ context }: App): CheckResult {
  const { nodeVersion } = context;
  const [major = 0, minor = 0] = nodeVersion.split(".").map(Number);
  if (major > lowest[0] || (major === lowest[0] && minor >= lowest[1])) return ok(`Node ${nodeVersion}`);
  throw new UsageError(`Node ${nodeVersion} is too old`, {
    code: "node_too_old",
    hint: `Install Node ${lowest.join(".")} or later.`,
  });
}

/** The config file, the profile and the base URL. */
export async function checkSettings(app: App): Promise<CheckResult> {
  const { globals, context } = app;
  const { env } = context;
  const profiles = await readProfiles(env);
  const { name } = profileName(globals, env, profiles);
  const file = profiles.exists ? profiles.path : `no config file yet (${profiles.path})`;
  if (globals.mock) {
    await app.connection();
    return ok(`--mock; ${file}`);
  }
  const found = await baseUrlOf(globals, env);
  const baseUrl = await baseUrlInUse(globals, env);
  const keys = Object.keys(profiles.find(name) ?? {});
  const unknown = keys.filter((key) => !(profileKeys as readonly string[]).includes(key));
  if (found !== null && unknown.length > 0) {
    // Without their values, which may be secrets.
    return warning(
      `unknown keys in profile ${name} of ${profiles.path}: ${maskedKeys(unknown.join(", "))}`,
      "Remove them from the file. To store an API key: cat login",
    );
  }
  if (found !== null) return ok(`${baseUrl} from ${found.source}; profile ${name}; ${file}`);
  throw new UsageError("no service URL", {
    code: "missing_base_url",
    hint: "Run: cat login (or add --base-url URL, or set CAT_BASE_URL). To try it without an account, add --mock.",
  });
}

/** Whether the keychain responds. Without a key in it, a keychain that does not is a warning only. */
export async function checkKeychain({ globals, context }: App): Promise<CheckResult> {
  const profiles = await readProfiles(context.env).catch(() => null);
  const stored =
    profiles === null ? null : keyStoreOf(profiles.find(profileName(globals, context.env, profiles).name));
  const isInUse = stored?.store === "keychain" && !isSet(context.env.CAT_API_KEY) && !globals.mock;
  try {
    // An account that no profile has: only whether the keychain responds matters here.
    await (await context.keychain()).read("doctor");
    return ok(
      isInUse ? "it responds and keeps the key of this profile" : "it responds; it has no key in use",
    );
  } catch (error) {
    context.interrupt.throwIfAborted();
    if (isInUse) throw error;
    const { message } = error as Error;
    return warning(
      `${message}; no key in it is in use`,
      "To store a key without a keychain: cat login --store file (or set CAT_API_KEY).",
    );
  }
}

/** Whether the state of the profile can be opened, or created. */
export async function checkState(app: App): Promise<CheckResult> {
  const path = await profileStatePath(app);
  if (path === null) return ok("kept in memory with --mock");
  if (existsSync(path)) {
    (await openProfileState(app)).close();
    return ok(`${path}, ${Math.ceil(statSync(path).size / 1024)} KB`);
  }
  let folder = dirname(path);
  while (!existsSync(folder)) folder = dirname(folder);
  if (!statSync(folder).isDirectory()) throw notAFolder(dirname(dirname(path)));
  accessSync(folder, constants.W_OK | constants.X_OK);
  return ok(`none yet; the first command that needs it creates ${path}`);
}

/** The narrowest terminal in which tables have all their columns, more or less. */
const narrow = 60;

export function checkTerminal({ context, globals, io }: App): CheckResult {
  const { stdin, stdout, env } = context;
  if (!stdout.isTTY) return ok("stdout is not a terminal: tables are not cut");
  const { columns } = stdout;
  const hasColors = io.paint.bold("x") !== "x";
  const asks = stdin.isTTY === true && globals.input ? "prompts" : "no prompts";
  const locale = [env.LC_ALL, env.LC_CTYPE, env.LANG].find(isSet);
  const about = `${columns} columns, ${hasColors ? "colors" : "no colors"}, ${asks}`;
  if (columns < narrow)
    return warning(about, `Make it at least ${narrow} columns wide to see all columns of tables.`);
  if (locale !== undefined && !/utf-?8/i.test(locale) && !/^(C|POSIX)$/.test(locale)) {
    return warning(`${about}, locale ${locale}`, "Set LANG to a UTF-8 locale, for example en_US.UTF-8.");
  }
  return ok(about);
}
