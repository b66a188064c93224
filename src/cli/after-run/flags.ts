import type { Command } from "commander";
import type { App } from "../app/app.ts";

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
  if (dryRun || plan || template) return;
  const { notifyInUse } = await import("../settings/settings.ts");
  const to = await notifyInUse(notify, app.globals, app.context);
  if (to !== null || metrics !== undefined)
    await (await import("./monitoring.ts")).openMonitoring(app, called, { notify: to, metrics });
}
