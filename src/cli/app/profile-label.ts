import { parseBaseUrl } from "../../client/base-url.ts";
import { CatError } from "../../errors.ts";
import type { App } from "./app.ts";

/** Colors for the label of a profile. */
export const labelColors = ["red", "green", "yellow", "cyan"] as const;

/**
 * The label of the profile in use for the start of a line on stderr, e.g. `[production] `, in its color; empty without
 * one. With another address than the profile's own it would mislead, and is not shown. Settings that cannot be read
 * have none: they must not hide a summary.
 */
export async function profileLabel(app: App): Promise<string> {
  if (app.globals.mock) return "";
  try {
    return await labelInUse(app);
  } catch (error) {
    if (error instanceof CatError) return "";
    throw error;
  }
}

async function labelInUse({ globals, context, io }: App): Promise<string> {
  const { readProfiles } = await import("../settings/profiles.ts");
  const { baseUrlInUse, profileName } = await import("../settings/settings.ts");
  const profiles = await readProfiles(context.env);
  const { label, color, baseUrl } = profiles.find(profileName(globals, context.env, profiles).name) ?? {};
  const inUse = await baseUrlInUse(globals, context.env);
  if (typeof label !== "string" || label === "" || typeof baseUrl !== "string" || inUse === null) return "";
  if (parseBaseUrl(baseUrl).origin !== parseBaseUrl(inUse).origin) return "";
  const shown = `[${io.visible(label)}]`;
  const painted = labelColors.find((name) => name === color);
  return `${painted === undefined ? shown : io.paintNote[painted](shown)} `;
}
