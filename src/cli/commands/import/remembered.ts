import type {
  ConflictChoice,
  ImportHost,
  UnknownChoice,
  UnknownOutcomeQuestion,
} from "../../../flows/import/import-input.ts";
import type { Memory } from "../../../flows/run/run.ts";
import { counted, grouped } from "../../../flows/words.ts";
import { inBoth } from "../../../state/sent-jobs.ts";
import type { State } from "../../../state/state.ts";
import { StateError } from "../../../state/state-error.ts";
import type { App } from "../../app/app.ts";
import { identifyService, newProfileNote } from "../../app/profile-state.ts";
import { canAsk, openPrompts } from "../../app/prompts.ts";
import type { Choice } from "../../app/terminal-prompts.ts";
import type { ImportFlags } from "./flags.ts";

/** The prompt about batches with an unknown outcome; undefined if a prompt is not possible. */
export const unknownOutcomePrompt = (
  app: App,
  flags: ImportFlags,
  pauseProgress: () => void,
): ImportHost["ask"] =>
  canAsk(app) && flags.file !== "-"
    ? (question) => {
        pauseProgress();
        return askAboutUnknownOutcome(app, question);
      }
    : undefined;

/** The prompts about conflicts and about many changes; undefined if a prompt is not possible. */
export function mergePrompts(
  app: App,
  flags: ImportFlags,
  pauseProgress: () => void,
): Pick<ImportHost, "askConflicts" | "confirm"> {
  if (!canAsk(app) || flags.file === "-") return {};
  return {
    async askConflicts({ file, conflicts, rows }) {
      pauseProgress();
      const shown = rows.map(({ line, reference, code }) => `  ${file}:${line}  ${reference}  ${code}`);
      const more = conflicts > rows.length ? [`  and ${grouped(conflicts - rows.length)} more`] : [];
      for (const line of [`${counted(conflicts, "conflict")}:`, ...shown, ...more])
        await app.io.note(app.io.visible(line));
      const prompts = await openPrompts(app);
      return prompts.select(
        "The sheet and the service have both changed. Whose values count?",
        [
          { name: "stop: send nothing", value: "stop" },
          { name: "keep the service's values", value: "service" },
          { name: "use the sheet's values", value: "sheet" },
        ] satisfies Choice<ConflictChoice | "stop">[],
        "stop",
      );
    },
    async confirm(question) {
      if (app.globals.yes) return true;
      pauseProgress();
      return (await openPrompts(app)).confirm(question, false);
    },
  };
}

/** The storage for an import: the state of the profile, or the file of `--ledger`. */
export async function openImportMemory(app: App, ledger: string | undefined): Promise<Memory> {
  const service = await identifyService(app);
  // A ledger must not record imports to the mock, which ends with the command.
  if (ledger === undefined || app.globals.mock) {
    const state = await app.state();
    const note = await newProfileNote(app, state, service.baseUrl);
    if (note !== null) await app.io.note(app.io.visible(note));
    return { state, sentJobs: state.sentJobs, service };
  }
  const { openStateFile } = await import("../../app/profile-state.ts");
  const state = await openStateFile(app, ledger);
  app.onClose(() => state.close());
  return { state, sentJobs: await sentJobsOfProfile(app, state), service };
}

/**
 * The storage that `cat imports list` reads; an import that cannot use it (a container with a read-only home)
 * runs without it, as the ledger has everything it needs.
 */
async function sentJobsOfProfile(app: App, ledger: State): Promise<State["sentJobs"]> {
  try {
    return inBoth((await app.state()).sentJobs, ledger.sentJobs);
  } catch (error) {
    if (!(error instanceof StateError)) throw error;
    await app.io.note(`${error.message}: cat imports list will not show this import.`);
    return ledger.sentJobs;
  }
}

async function askAboutUnknownOutcome(app: App, question: UnknownOutcomeQuestion): Promise<UnknownChoice> {
  const { sentAt, rows, existing, resendsOnce, lost } = question;
  const { unknownOutcomeText } = await import("../../../flows/import/earlier-runs.ts");
  const when = `${new Date(sentAt).toISOString().slice(0, 16).replace("T", " ")} UTC`;
  const what = unknownOutcomeText(question, when);
  const products =
    existing === null
      ? "This key cannot read their products (it lacks the scope products:read)."
      : `${grouped(existing)} of their ${grouped(rows)} products exist.`;
  await app.io.note(app.io.visible(`${what[0]!.toUpperCase()}${what.slice(1)}. ${products}`));
  const risk = resendsOnce ? "the service imports them only once" : "may add photos twice";
  const choices: Choice<UnknownChoice>[] = [
    { name: "they were not imported: send them again", value: "not-imported" },
  ];
  if (existing !== null)
    choices.unshift({ name: "they were imported: do not send their photos again", value: "imported" });
  if (lost.length === 0)
    choices.push({ name: `not sure: send the same batches again (${risk})`, value: "resend" });
  const prompts = await openPrompts(app);
  return prompts.select(
    "What happened to these rows?",
    choices,
    (existing ?? 0) > 0 ? "imported" : "not-imported",
  );
}
