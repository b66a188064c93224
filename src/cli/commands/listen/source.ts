import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { isLoopbackHost } from "../../../contract/url-policy.ts";
import { temporaryFolder } from "../../../flows/files/disk.ts";
import type { EventSource, ListenService } from "../../../flows/listen/listener.ts";
import type { App } from "../../app/app.ts";
import { memoryOfProfile, profileStatePath } from "../../app/profile-state.ts";
import { defaultConcurrency } from "../../app/run-flow.ts";
import { UsageError } from "../../context/errors.ts";
import { ownFiles, readFilePlace } from "../../files/places.ts";
import { outputFormat } from "../../output/output-names.ts";
import { baseUrlInUse } from "../../settings/settings.ts";
import { missingSecret, secretWarnings } from "./handlers.ts";

/**
 * Where events come from: polling, a webhook that the listener creates (with a service on this machine, or
 * with a public URL), or the webhook of CAT_WEBHOOK_SECRET, with which handlers check signatures in any case.
 * The warnings are about its secret. Throws a KeyError (exit 4) without any of them.
 */
export async function eventSource(
  app: App,
  {
    poll,
    publicUrl,
    keepWebhook,
  }: {
    readonly poll: boolean;
    readonly publicUrl?: string;
    readonly keepWebhook: boolean;
  },
): Promise<{ source: EventSource; warnings: string[] }> {
  const given = app.context.env.CAT_WEBHOOK_SECRET?.trim() ?? "";
  if (poll) {
    // Handlers check signatures, so each run has a secret, if only for itself.
    const secret = given === "" ? `whsec_${randomBytes(32).toString("hex")}` : given;
    const service = await openService(app);
    return { source: { kind: "poll", secret, service }, warnings: secretWarnings(secret) };
  }
  if (publicUrl !== undefined || (await isLocal(app))) {
    const service = await openService(app);
    const secret = given === "" ? null : given;
    const own = {
      kind: "webhook",
      publicUrl: publicUrl ?? null,
      secret,
      keeps: keepWebhook,
      service,
    } as const;
    return { source: own, warnings: secret === null ? [] : secretWarnings(secret) };
  }
  if (given !== "") return { source: { kind: "secret", secret: given }, warnings: secretWarnings(given) };
  throw missingSecret(
    "Set CAT_WEBHOOK_SECRET to the signing_secret of the webhook, or add --public-url URL or --poll.",
  );
}

async function isLocal({ globals, context }: App): Promise<boolean> {
  if (globals.mock) return true;
  const baseUrl = await baseUrlInUse(globals, context);
  return baseUrl !== null && isLoopbackHost(new URL(baseUrl).hostname);
}

async function openService(app: App): Promise<ListenService> {
  const client = await app.client();
  const { state, service } = await memoryOfProfile(app);
  return { client, state, ...service, concurrency: defaultConcurrency };
}

/**
 * The absolute path of the event log: `--log FILE`, else `PROFILE.events.ndjson` next to the state of the
 * profile, else, with `--mock`, a file that is removed at the end. Throws UsageError for another file of this
 * program.
 */
export async function eventLogPath(app: App, file: string | undefined): Promise<string> {
  const usual = (await profileStatePath(app))?.replace(/\.db$/, ".events.ndjson") ?? null;
  if (file !== undefined) {
    const path = resolve(app.context.cwd, file);
    if (path === usual || !(await (await ownFiles(app, undefined))(await readFilePlace(path)))) {
      // A log that exists is known by its content.
      if (!existsSync(path)) outputFormat("--log", file, ["ndjson"]);
      return path;
    }
    throw new UsageError(`cannot use --log ${file}: it is a file of this program`, {
      param: "--log",
      hint: "Choose another file, for example --log events.ndjson.",
    });
  }
  if (usual === null) {
    const folder = temporaryFolder("write the event log to");
    app.onClose(() => rm(folder, { recursive: true, force: true }));
    return join(folder, "events.ndjson");
  }
  // Creates the folder, closed to other users.
  await app.state();
  return usual;
}
