import { generationForm } from "../../../flows/generate/columns/generation-form.ts";
import { generationVocabulary } from "../../../flows/generate/columns/vocabulary.ts";
import { textSource } from "../../../flows/rows/open-rows.ts";
import type { App } from "../../app/app.ts";
import { canAsk } from "../../app/prompts.ts";
import type { MapFile } from "../../mapping/map-file.ts";
import { loadMapFiles, mapFileNames } from "../../mapping/map-files.ts";
import { openTable } from "../../mapping/open-table.ts";
import { orReported } from "../../output/or-reported.ts";
import type { FoundProblems } from "../../reports/found-problems.ts";
import { withReports } from "../../reports/with-reports.ts";
import { type GenerateFlags, missingFlags, missingInput, rowsOfSelection } from "./flags.ts";
import { looksMapping } from "./looks-mapping.ts";
import { pickMissing } from "./questions.ts";
import { rejectedRun } from "./report.ts";
import { type OpenedInput, openDecisions } from "./rerun.ts";

/** Checks the input and, unless it is a dry run, generates the images. Throws what stopped it. */
export const runGenerate = (app: App, flags: GenerateFlags): Promise<void> => {
  const { kind: name, input, report, failed, results, gallery, approved, file } = flags;
  const others = [failed, results, gallery, approved, ...mapFileNames([{ ...flags, file: file ?? "-" }])];
  const command = { name, inputs: [input], report, others };
  return withReports(app, command, (foundProblems) => generateOrCheck(app, flags, foundProblems));
};

async function generateOrCheck(
  app: App,
  flags: GenerateFlags,
  foundProblems: FoundProblems | null,
): Promise<void> {
  if (!flags.dryRun) await app.runs.begin(flags.kind, flags.input);
  const words = generationVocabulary(flags.kind);
  const { file } = flags;
  const mapFiles = file === null ? [] : await loadMapFiles(app, { ...flags, file }, words);
  const { source, replacing } = await orReported(app, rejectedRun(flags), openRowsFrom(app, flags, mapFiles));
  try {
    const mapping = await looksMapping(app, flags, source, mapFiles);
    const given = { ...flags, ...mapping };
    const form = generationForm(given);
    const { limit } = flags;
    const file = { source, read: given, limit, form: flags.file === null ? withoutFixes(form) : form };
    const run = flags.dryRun
      ? (await import("./dry-run.ts")).dryRun
      : (await import("./full-run.ts")).generateAndReport;
    await run(app, given, { file, replacing }, foundProblems);
  } finally {
    await source.close();
  }
}

/** Values of flags are not mapped: a problem of one offers no flag for it. */
const withoutFixes = (form: ReturnType<typeof generationForm>): typeof form => ({
  ...form,
  problems: (row) => form.problems(row).map(({ valueFix: _, ...problem }) => problem),
});

/** The rows of the file, a review, or flags, completed by a person at the terminal. */
async function openRowsFrom(
  app: App,
  flags: GenerateFlags,
  mapFiles: readonly MapFile[],
): Promise<OpenedInput> {
  const { kind, file, rerun, selection } = flags;
  if (rerun !== undefined) {
    const { sheet, skipsHidden, dryRun } = flags;
    return openDecisions(app, kind, rerun, { reading: { sheet, skipsHidden, read: flags }, dryRun });
  }
  const replacing = new Map();
  if (file === null) {
    const missing = missingFlags(kind, selection);
    if (missing.length > 0 && !canAsk(app)) throw missingInput(kind, missing);
    const chosen = missing.length === 0 ? selection : await pickMissing(app, kind, selection);
    return { source: await textSource("flags", rowsOfSelection(flags, chosen)), replacing };
  }
  const source = await openTable(
    app,
    { ...flags, file },
    {
      job: { noun: "run" },
      flags,
      mapFiles,
      forms: (map) => [generationForm({ ...flags, map })],
    },
  );
  return { source, replacing };
}
