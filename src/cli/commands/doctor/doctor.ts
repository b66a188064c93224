import { accessSync, constants, existsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import type { Command } from "commander";
import { CatError } from "../../../errors.ts";
import { maskedKeys } from "../../../http/mask.ts";
import { loadConnect } from "../../../state/sqlite.ts";
import type { App } from "../../app/app.ts";
import { openProfileState, profileStatePath } from "../../app/profile-state.ts";
import { ExitCode, toExitCode, UsageError } from "../../context/errors.ts";
import { command } from "../../flags/command.ts";
import { lineWidth, wrapped } from "../../output/wrapped.ts";
import { isSet } from "../../settings/profile-names.ts";
import { notAFolder, profileKeys, toKeyStore } from "../../settings/profiles.ts";
import { baseUrlInUse, keyInUse, profileInUse, readBaseUrl } from "../../settings/settings.ts";
import { checkCat } from "./cat-check.ts";
import { type CheckName, checkNames, type DoctorResult, ok, resultOf, unchecked, warning } from "./check.ts";
import {
  checkClock,
  checkKey,
  checkNetwork,
  checkProxy,
  checkRateLimit,
  checkTls,
  type Probe,
  probe,
} from "./service-checks.ts";

interface Flags {
  parity?: string;
  photos: boolean;
  service?: boolean;
  write?: boolean;
}

export const doctorCommand = (app: App): Command =>
  command("doctor", {
    about:
      "Check the settings, the API key, the network and this machine, with a next step for each problem. " +
      "Sends at most two requests. Exits with 0 unless a check fails; warnings do not count.\n\n" +
      "With --parity, compare your catalogue with that of another profile instead: products by reference, their fields, " +
      "and photos by orientation and SHA-256. Both are only read. Exits with 8 if they differ.\n\n" +
      "With --service, ask the service about what the mock server assumes (docs/fidelity.md): each clause is confirmed, " +
      "differs, or is not asked. Reads only, unless --write allows one product that is deleted at the end. Exits with 8 if a " +
      "clause differs.",
    examples: [
      ["find out why commands fail", "cat doctor"],
      ["check a profile in a script", "cat doctor --profile ci --json"],
      ["check that a restored organization is complete", "cat doctor --profile live --parity restored"],
      ["check what the mock server assumes", "cat doctor --profile dev --service --write"],
    ],
  })
    .option("--parity <PROFILE>", "compare the catalogue with that of another profile")
    .option("--no-photos", "with --parity, do not download photos: compare their number and orientations")
    .option("--service", "ask the service about the clauses that the mock server assumes")
    .option("--write", "with --service, also ask by writes: a product, uploads, imports of it, and an export")
    .action(async ({ parity, photos, service = false, write = false }: Flags) => {
      if (service && parity !== undefined)
        throw new UsageError("--service and --parity are two checks", {
          param: "--service",
          hint: "Use one of them.",
        });
      if (write && !service)
        throw new UsageError("--write needs --service", { param: "--write", hint: "Add --service." });
      if (service && photos) return (await import("./service-clauses.ts")).checkClauses(app, write);
      if (parity !== undefined) return (await import("./parity.ts")).compareProfiles(app, parity, photos);
      if (!photos)
        throw new UsageError("--no-photos needs --parity", {
          param: "--no-photos",
          hint: "Add --parity PROFILE.",
        });
      return doctor(app);
    });

/** Makes all checks, prints them, and sets the exit status of the first one that failed. */
async function doctor(app: App): Promise<void> {
  const { context, io } = app;
  const attempt: Attempt = (make) => resultOf(context.interrupt, make);
  const [node, settings, keychain, state, terminal, cat, ofService] = await Promise.all([
    attempt(() => checkNode(app)),
    attempt(() => checkSettings(app)),
    attempt(() => checkKeychain(app)),
    attempt(() => checkState(app)),
    attempt(() => checkTerminal(app)),
    attempt(() => checkCat(app)),
    checkService(app, attempt),
  ]);
  context.interrupt.throwIfAborted();
  const results = { node, settings, keychain, ...ofService, state, terminal, cat };
  const checks = checkNames.map((name) => {
    const { hint, ...result } = results[name];
    return { name, ...result, hint: hint && io.asCalled(hint) };
  });
  const first = checks.find(({ status }) => status === "error")?.error;
  app.exit = first === undefined ? ExitCode.done : toExitCode(first);
  if (!io.json) return io.text(toLines(app, checks));
  await io.jsonData({
    checks: checks.map(({ name, status, message, hint, code }) => ({ name, status, message, hint, code })),
    exit: app.exit,
  });
  // For programs, which read the reason on stderr.
  if (first !== undefined) throw first;
}

type Attempt = <Made>(make: () => Made | Promise<Made>) => Promise<Made | DoctorResult>;

/** The checks that need the base URL. */
async function checkService(app: App, attempt: Attempt) {
  const { globals, context } = app;
  const url = await serviceUrl(app);
  const proxy = (probed: Probe | null) => attempt(() => checkProxy(app, url, probed));
  const same = (result: DoctorResult) => ({ tls: result, clock: result, "rate limit": result });
  if (url === null) {
    const none = unchecked("no service URL");
    return { key: none, network: none, proxy: await proxy(null), ...same(none) };
  }
  const key = await attempt(() =>
    globals.mock
      ? app.connection().then(({ apiKey }) => ({ value: apiKey, source: "--mock" }))
      : keyInUse(url, globals, context),
  );
  if ("value" in key) app.secrets.add(key.value);
  const probed = await attempt(() => probe(app, url, "value" in key ? key.value : null));
  if ("status" in probed) {
    // A wrong proxy variable is the error of its own check.
    const isOfProxy = probed.code === "invalid_proxy";
    const network = isOfProxy ? unchecked("the proxy variable is wrong") : probed;
    const fallback = isOfProxy ? network : unchecked("no request was sent");
    return { key: "value" in key ? fallback : key, network, proxy: await proxy(null), ...same(fallback) };
  }
  return {
    key: "value" in key ? await attempt(() => checkKey(key, probed)) : key,
    network: await attempt(() => checkNetwork(url, probed)),
    proxy: await proxy(probed),
    tls: await attempt(() => checkTls(app, url, probed)),
    clock: await attempt(() => checkClock(probed)),
    "rate limit": await attempt(() => checkRateLimit(probed)),
  };
}

/** The base URL; null without one, and for a wrong one, which is the error of the settings. */
async function serviceUrl({ globals, context, connection }: App): Promise<string | null> {
  try {
    return globals.mock ? (await connection()).baseUrl : await baseUrlInUse(globals, context);
  } catch (error) {
    context.interrupt.throwIfAborted();
    if (error instanceof CatError) return null;
    throw error;
  }
}

/** One line per check, and one with the next step, both wrapped below their text. */
function toLines({ io, context }: App, checks: readonly ({ name: CheckName } & DoctorResult)[]): string {
  const paints = { ok: io.paint.green, warning: io.paint.yellow, error: io.paint.red, skipped: io.paint.dim };
  const width = lineWidth(context.stdout);
  const [statusWidth, nameWidth] = [9, 12];
  const indent = " ".repeat(statusWidth + nameWidth);
  const text = checks.flatMap(({ name, status, message, hint }) => {
    const [first = "", ...more] = [message, ...(hint === undefined ? [] : [hint])]
      .map((line) => indent + io.visible(line))
      .flatMap((line) => (width === null ? [line] : wrapped(line, width)));
    const head = paints[status](status.padEnd(statusWidth)) + name.padEnd(nameWidth);
    return [head + first.slice(indent.length), ...more];
  });
  return `${text.join("\n")}\n`;
}

/** The lowest version of Node (CONTRIBUTING, Checks). */
const lowest = [20, 19] as const;

function checkNode({ context }: App): DoctorResult {
  const { nodeVersion } = context;
  const [major = 0, minor = 0] = nodeVersion.split(".").map(Number);
  if (major > lowest[0] || (major === lowest[0] && minor >= lowest[1])) return ok(`Node ${nodeVersion}`);
  throw new UsageError(`Node ${nodeVersion} is too old`, {
    code: "node_too_old",
    hint: `Install Node ${lowest.join(".")} or later.`,
  });
}

/** The config file, the profile and the base URL. */
async function checkSettings(app: App): Promise<DoctorResult> {
  const { globals, context } = app;
  const { name, settings, profiles } = await profileInUse(globals, context);
  const file = profiles.exists ? profiles.path : `no config file yet (${profiles.path})`;
  if (globals.mock) {
    await app.connection();
    return ok(`--mock; ${file}`);
  }
  const setting = await readBaseUrl(globals, context);
  const baseUrl = await baseUrlInUse(globals, context);
  const keys = Object.keys(settings ?? {});
  const unknown = keys.filter((key) => !(profileKeys as readonly string[]).includes(key));
  if (setting !== null && unknown.length > 0) {
    // Without their values, which may be secrets.
    return warning(
      `unknown keys in profile ${name} of ${profiles.path}: ${maskedKeys(unknown.join(", "))}`,
      "Remove them from the file. To store an API key: cat login",
    );
  }
  if (setting !== null) return ok(`${baseUrl} from ${setting.source}; profile ${name}; ${file}`);
  throw new UsageError("no service URL", {
    code: "missing_base_url",
    hint: "Run: cat login (or add --base-url URL, or set CAT_BASE_URL). To try it without an account, add --mock.",
  });
}

/** Whether the keychain responds. Without a key in it, a keychain that does not is a warning only. */
async function checkKeychain({ globals, context }: App): Promise<DoctorResult> {
  const profile = await profileInUse(globals, context).catch(() => null);
  const stored = toKeyStore(profile?.settings ?? null);
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
async function checkState(app: App): Promise<DoctorResult> {
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
  await loadConnect();
  return ok(`none yet; the first command that needs it creates ${path}`);
}

/** The narrowest terminal in which tables have all their columns, more or less. */
const narrow = 60;

function checkTerminal({ context, globals, io }: App): DoctorResult {
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
