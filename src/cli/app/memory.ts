import { hash } from "node:crypto";
import type { ServiceIdentity } from "../../flows/run/account.ts";
import type { State } from "../../state/state.ts";
import type { App } from "./app.ts";

/** Where runs of the profile are remembered, and for which service. */
export async function memoryOfProfile(
  app: App,
): Promise<{ state: State; sentJobs: State["sentJobs"]; service: ServiceIdentity }> {
  const state = await app.state();
  return { state, sentJobs: state.sentJobs, service: await serviceOf(app) };
}

/** The service and the key in use; of the key only a digest. */
export async function serviceOf(app: Pick<App, "connection">): Promise<ServiceIdentity> {
  const { baseUrl, apiKey } = await app.connection();
  return { baseUrl, keyFingerprint: hash("sha256", apiKey).slice(0, 32) };
}
