import { compareCatalogues, type Difference, type ParityCounts } from "../../../flows/catalogue/parity.ts";
import { counted, grouped } from "../../../flows/words.ts";
import type { App } from "../../app/app.ts";
import { openClient } from "../../app/open-client.ts";
import { defaultConcurrency } from "../../app/run-flow.ts";
import { PartialError } from "../../context/errors.ts";
import { checkedProfileName } from "../../settings/profile-names.ts";
import { readProfiles } from "../../settings/profiles.ts";
import { type Connection, resolveConnection, unknownProfile } from "../../settings/settings.ts";

/** `cat doctor --parity`: prints how the organizations of two profiles differ; exits with 8 if they do. */
export async function compareProfiles(app: App, name: string, hasPhotos: boolean): Promise<void> {
  const { context, io } = app;
  const connection = await openConnection(app, name);
  app.secrets.add(connection.apiKey);
  const { baseUrl } = await app.connection();
  const here = await app.client();
  const there = openClient(app, connection);
  app.onClose(() => there.close());
  // Lines on a terminal show the progress themselves.
  const progress = context.stdout.isTTY ? null : await io.progress({ lines: true });
  const counts: ParityCounts = { here: 0, there: 0, withoutReference: 0, photos: 0 };
  const listed: Difference[] = [];
  let differences = 0;
  try {
    const compared = compareCatalogues(
      {
        here,
        there,
        name,
        isOneService: baseUrl === connection.baseUrl,
        hasPhotos,
        signal: context.interrupt,
        concurrency: defaultConcurrency,
        onProgress: (event) => progress?.update(event),
      },
      counts,
    );
    for await (const difference of compared) {
      differences++;
      if (io.json) listed.push(difference);
      else
        await io.text(`${io.visible(inWords(difference, name))}
`);
    }
  } finally {
    progress?.end();
  }
  if (io.json) {
    const { here, there, withoutReference: without_reference, photos } = counts;
    await io.jsonData({ parity: name, here, there, without_reference, photos, differences: listed });
  } else await io.note(io.visible(summary(differences, counts, name, hasPhotos)));
  if (differences > 0) throw new PartialError(`${counted(differences, "difference")} to ${name}`);
}

/** The stored connection of a profile: variables and flags are about the current one. Throws UsageError. */
async function openConnection({ context, globals }: App, name: string): Promise<Connection> {
  const profile = checkedProfileName(name, "--parity");
  const profiles = await readProfiles(context);
  if (profiles.find(profile) === null)
    throw unknownProfile(`${JSON.stringify(profile)} (from --parity)`, { param: "--parity" });
  const env = { ...context.env, CAT_BASE_URL: undefined, CAT_API_KEY: undefined };
  const own = { ...globals, profile, baseUrl: undefined, mock: false };
  return resolveConnection(own, { env, keychain: context.keychain });
}

function inWords({ reference, what, here, there, orientation }: Difference, otherName: string): string {
  const quoted = (text: string | undefined) => (text === "" || text === undefined ? "none" : text);
  switch (what) {
    case "missing":
      return `${reference}: missing in ${otherName}`;
    case "extra":
      return `${reference}: only in ${otherName}`;
    case "photo":
      return `${reference}: another ${orientation} photo`;
    case "name":
    case "description":
      return `${reference}: another ${what}`;
    default:
      return `${reference}: ${what} ${quoted(here)}; in ${otherName}: ${quoted(there)}`;
  }
}

function summary(
  differences: number,
  { here, there, withoutReference, photos }: ParityCounts,
  otherName: string,
  hasPhotos: boolean,
): string {
  const products = `${counted(here, "product")} here, ${grouped(there)} in ${otherName}`;
  const bytes = hasPhotos ? `${counted(photos, "photo")} downloaded` : "bytes of photos not compared";
  const remaining =
    withoutReference === 0
      ? ""
      : ` ${counted(withoutReference, "product")} without a reference not compared.`;
  const result = differences === 0 ? "No differences" : counted(differences, "difference");
  return `${result}: ${products}, ${bytes}.${remaining}`;
}
