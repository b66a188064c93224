import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import type { ServiceIdentity } from "../../../flows/run/account.ts";
import type { App } from "../../app/app.ts";
import { identifyService } from "../../app/profile-state.ts";
import { UsageError } from "../../context/errors.ts";
import { rejectFileName } from "../../output/output-names.ts";

/** The path of a mirror. Throws UsageError for a file. */
export async function mirrorFolder(app: App, name: string, param = "DIR"): Promise<string> {
  const path = resolve(app.context.cwd, name);
  const found = await stat(path).catch(() => null);
  if (found === null) rejectFileName(param, name, app.context);
  if (found === null || found.isDirectory()) return path;
  throw new UsageError(`${app.io.visible(name)} is not a folder`, {
    param,
    hint: "Choose a new or empty folder, for example cat export sync images.",
  });
}

/** The service of a mirror. The address and the key of the in-process mock are others for each command. */
export const serviceOfMirror = async (app: App): Promise<ServiceIdentity> =>
  app.globals.mock ? { baseUrl: "--mock", keyFingerprint: "--mock" } : identifyService(app);
