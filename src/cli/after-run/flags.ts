import type { Command } from "commander";
import type { App } from "../app/app.ts";
import { isSet } from "../settings/profile-names.ts";

/** The flags of commands that run at night; code is loaded for those that are used. */
export const withNightFlags = (app: App, made: Command): Command =>
  made
    .optionsGroup("Monitoring:")
    .option("--notify <URL>", "send the result to a URL when the command ends, or none (or CAT_NOTIFY)")
    .option("--metrics <FILE>", "add the numbers of the run to a .prom file for Prometheus")
    .hook("preAction", async (_, called) => {
      // The hook of `export` also runs for `export sync`.
      if (called === made) await beginMonitoring(app, called);
    });

interface RawNightFlags {
  readonly notify?: string;
  readonly metrics?: string;
  readonly dryRun?: boolean;
  readonly plan?: string | true;
  readonly template?: string | true;
}

async function beginMonitoring(app: App, called: Command): Promise<void> {
  const { notify, metrics, dryRun, plan, template }: RawNightFlags = called.opts();
  // Nothing is run, so that the monitoring must not take it for a success.
  if (dryRun === true || plan !== undefined || template !== undefined) return;
  const typed = notify === undefined ? await configuredNotify(app) : { value: notify, source: "--notify" };
  const to = typed?.value.trim() === "none" ? null : typed;
  if (to === null && metrics === undefined) return;
  const { openMonitoring } = await import("./monitoring.ts");
  const command = called.parent?.name() === "export" ? "export sync" : called.name();
  await openMonitoring(app, command, { notify: to, metrics });
}

/** The URL of CAT_NOTIFY or the profile; null without. A demo with `--mock` is not reported. */
async function configuredNotify({
  globals,
  context,
}: App): Promise<{ value: string; source: string } | null> {
  if (globals.mock) return null;
  const { CAT_NOTIFY } = context.env;
  if (isSet(CAT_NOTIFY)) return { value: CAT_NOTIFY, source: "CAT_NOTIFY" };
  const { profileInUse } = await import("../settings/settings.ts");
  const { name, settings } = await profileInUse(globals, context);
  return settings?.notify ? { value: settings.notify, source: `notify of profile ${name}` } : null;
}
