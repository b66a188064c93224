import type { Command } from "commander";
import { CatError } from "../../../errors.ts";
import type { App } from "../../app/app.ts";
import { command } from "../../flags/command.ts";
import { lineWidth, wrapped } from "../../output/wrapped.ts";
import { baseUrlInUse, keyInUse, type Sourced } from "../../settings/settings.ts";
import { type CheckName, type CheckResult, checkNames, settled } from "./check.ts";
import {
  checkKeychain,
  checkNode,
  checkSettings,
  checkState,
  checkTerminal,
  unchecked,
} from "./local-checks.ts";
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

/** `cat doctor` */
export const doctorCommand = (app: App): Command =>
  command("doctor", {
    about:
      "Check the settings, the API key, the network and this machine, with a next step for each problem. " +
      "Sends at most two requests. Exits with 0 unless a check fails; warnings do not count.",
    examples: [
      ["find out why commands fail", "cat doctor"],
      ["check a profile in a script", "cat doctor --profile ci --json"],
    ],
  }).action(async () => doctor(app));

type Results = Record<CheckName, CheckResult>;

/** Makes all checks, prints them, and sets the exit status of the first one that failed. */
async function doctor(app: App): Promise<void> {
  const { context, io } = app;
  const settle = (check: () => CheckResult | Promise<CheckResult>) => settled(context.interrupt, check);
  const [node, settings, keychain, state, terminal, ofService] = await Promise.all([
    settle(() => checkNode(app)),
    settle(() => checkSettings(app)),
    settle(() => checkKeychain(app)),
    settle(() => checkState(app)),
    settle(() => checkTerminal(app)),
    checkService(app, settle),
  ]);
  context.interrupt.throwIfAborted();
  const results: Results = { node, settings, keychain, ...ofService, state, terminal };
  const checks = checkNames.map((name) => {
    const { hint, ...result } = results[name];
    return { name, ...result, hint: hint && io.asCalled(hint) };
  });
  const exit = checks.find(({ status }) => status === "error")?.exit ?? 0;
  app.exit = exit;
  if (io.json) {
    await io.jsonData({
      checks: checks.map(({ name, status, message, hint, code }) => ({ name, status, message, hint, code })),
      exit,
    });
    return;
  }
  await io.data(linesOf(app, checks));
}

async function checkService(
  app: App,
  settle: (check: () => CheckResult | Promise<CheckResult>) => Promise<CheckResult>,
): Promise<Omit<Results, "node" | "settings" | "keychain" | "state" | "terminal">> {
  const { globals, context } = app;
  let baseUrl: string | null = null;
  let key: Sourced | null = null;
  let keyError: CheckResult = unchecked("no service URL");
  try {
    baseUrl = globals.mock ? (await app.connection()).baseUrl : await baseUrlInUse(globals, context.env);
  } catch (error) {
    context.interrupt.throwIfAborted();
    if (!(error instanceof CatError)) throw error;
  }
  if (baseUrl !== null) {
    keyError = await settle(async () => {
      key = globals.mock
        ? { value: (await app.connection()).apiKey, source: "--mock" }
        : await keyInUse(baseUrl!, globals, context);
      app.secrets.add(key.value);
      return unchecked("the service did not respond");
    });
  }
  let found: Probe | null = null;
  let probeError: CheckResult = unchecked("no service URL");
  const url = baseUrl;
  const known = key as Sourced | null;
  if (url !== null) {
    probeError = await settle(async () => {
      found = await probe(app, url, known?.value ?? null);
      return unchecked("the service did not respond");
    });
  }
  const probed = found as Probe | null;
  // A wrong proxy variable is the error of its own check.
  const none = probeError.code === "invalid_proxy" ? unchecked("the proxy variable is wrong") : probeError;
  const proxy = await settle(() => checkProxy(app, url, probed));
  if (url === null || probed === null) {
    const other = none.status === "error" ? unchecked("no request was sent") : none;
    return {
      key: known === null ? keyError : other,
      network: none,
      proxy,
      tls: other,
      clock: other,
      "rate limit": other,
    };
  }
  return {
    key: known === null ? keyError : await settle(() => checkKey(known, probed)),
    network: await settle(() => checkNetwork(url, probed)),
    proxy,
    tls: await settle(() => checkTls(app, url, probed)),
    clock: await settle(() => checkClock(probed)),
    "rate limit": await settle(() => checkRateLimit(probed)),
  };
}

/** One line per check, and one with the next step, both wrapped below their text. */
function linesOf({ io, context }: App, checks: readonly ({ name: CheckName } & CheckResult)[]): string {
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
