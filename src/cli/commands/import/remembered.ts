import { hash } from "node:crypto";
import type { ImportDeps, Memory, UnknownChoice } from "../../../flows/import/run/import-input.ts";
import type { State } from "../../../state/state.ts";
import { StateError } from "../../../state/state-error.ts";
import type { App } from "../../app/app.ts";
import { type Choice, canAsk, openPrompts } from "../../app/prompts.ts";
import { grouped } from "../../output/numbers.ts";
import type { ImportFlags } from "./flags.ts";

/** Asks a person about batches of unknown outcome; undefined where there is none to ask. */
export const doubtPrompt = (app: App, flags: ImportFlags, pauseProgress: () => void): ImportDeps["ask"] =>
  canAsk(app) && flags.file !== "-"
    ? (question) => {
        pauseProgress();
        return askAboutDoubt(app, question);
      }
    : undefined;

/** Where an import is remembered: in the profile's state, or in the file of `--ledger`. */
export async function memoryOf(app: App, ledger: string | undefined): Promise<Memory> {
  const { baseUrl, apiKey } = await app.connection();
  const service = { baseUrl, keyFingerprint: hash("sha256", apiKey).slice(0, 32) };
  // A ledger must not remember a mock service that is gone at the end.
  if (ledger === undefined || app.globals.mock) {
    const state = await app.state();
    return { state, sentJobs: state.sentJobs, service };
  }
  const { openStateFile } = await import("../../app/open-profile-state.ts");
  const state = await openStateFile(app, ledger);
  app.onClose(() => state.close());
  return { state, sentJobs: await sentJobsOfProfile(app, state), service };
}

/**
 * Where `cat imports list` finds what was sent. A ledger has all that must not be forgotten: where the profile's own state
 * cannot be used, as in a container whose home is read-only, the import goes without it.
 */
async function sentJobsOfProfile(app: App, ledger: State): Promise<State["sentJobs"]> {
  try {
    return (await app.state()).sentJobs;
  } catch (error) {
    if (!(error instanceof StateError)) throw error;
    await app.io.note(`${error.message}: cat imports list will not tell of this import.`);
    return ledger.sentJobs;
  }
}

async function askAboutDoubt(
  app: App,
  question: Parameters<NonNullable<ImportDeps["ask"]>>[0],
): Promise<UnknownChoice> {
  const { sentAt, rows, existing, resendsOnce, lost } = question;
  const { whatIsNotKnown } = await import("../../../flows/import/resume/doubtful-batches.ts");
  const when = `${new Date(sentAt).toISOString().slice(0, 16).replace("T", " ")} UTC`;
  const what = whatIsNotKnown(question, when);
  const products =
    existing === null
      ? "This key may not read their products (scope products:read)."
      : `Of their products ${grouped(existing)} of ${grouped(rows)} exist at the service.`;
  await app.io.note(app.io.visible(`${what[0]!.toUpperCase()}${what.slice(1)}. ${products}`));
  const risk = resendsOnce ? "the service carries them out once" : "may add photos a second time";
  const choices: Choice<UnknownChoice>[] = [
    { name: "they were not imported: send them", value: "not-imported" },
  ];
  if (existing !== null)
    choices.unshift({ name: "they were imported: do not send their photos again", value: "imported" });
  if (lost.length === 0) choices.push({ name: `send the same calls again (${risk})`, value: "resend" });
  const prompts = await openPrompts(app);
  return prompts.select(
    "What is to be done with them?",
    choices,
    (existing ?? 0) > 0 ? "imported" : "not-imported",
  );
}
