import { generationForm } from "../../../flows/generate/columns/generation-form.ts";
import { generationVocabulary } from "../../../flows/generate/columns/vocabulary.ts";
import { noMapping } from "../../../flows/rows/mapped-columns.ts";
import type { Source } from "../../../flows/rows/source.ts";
import type { App } from "../../app/app.ts";
import { canAsk } from "../../app/prompts.ts";
import { learnedLooks } from "../../completion/learned-values.ts";
import type { FileMapping } from "../../mapping/file-head.ts";
import type { MapFile } from "../../mapping/map-file.ts";
import { readMapping } from "../../mapping/read-mapping.ts";
import type { GenerateFlags } from "./flags.ts";

/** How columns and values of a file are read; reviews and flags use the service's names. */
export async function looksMapping(
  app: App,
  flags: GenerateFlags,
  source: Source,
  mapFiles: readonly MapFile[],
): Promise<FileMapping> {
  if (flags.file === null) return { ...noMapping, encoding: undefined };
  const learned = canAsk(app) ? await learnedLooks(app, flags.kind) : undefined;
  return readMapping(app, {
    file: flags.file,
    source,
    read: flags,
    flags,
    mapFiles,
    form: (mapping) => generationForm({ ...flags, ...mapping, ...(learned && { learned }) }),
    words: generationVocabulary(flags.kind, learned),
  });
}
