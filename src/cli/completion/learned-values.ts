import { allAngleShots, type GenerationKind, listBackgrounds } from "../../contract/generation-rules.ts";
import type { ExportRow } from "../../contract/resources/exports.ts";
import { hexBackground } from "../../contract/value-sets.ts";
import { CatError } from "../../errors.ts";
import type { Look } from "../../flows/catalogue/coverage.ts";
import type { LearnedLooks } from "../../flows/generate/columns/vocabulary.ts";
import { parseJson } from "../../json.ts";
import { visible } from "../../text.ts";
import type { App } from "../app/app.ts";
import { toMark } from "./kept-names.ts";
import type { LearnedField, LearnedKind } from "./words.ts";

/** No slug is longer; a longer text is not kept. */
const longestSlug = 60;
/** So many values of a kind are kept, the latest ones. */
const mostKept = 200;

const kindOfRole = new Map<string, GenerationKind>([
  ["tryon", "tryon"],
  ["beautifier", "beautify"],
]);

/** Values that the service has used or accepted, and that no list has: no note is shown about them. */
export class LearnedValues {
  readonly #seen = new Map<LearnedKind, Set<string>>();

  /** Takes the values of generated images. The client does not check assets. */
  addRows(rows: readonly ExportRow[]): void {
    for (const { assets } of rows) {
      for (const asset of Array.isArray(assets) ? assets : []) {
        const kind = kindOfRole.get(asset?.role);
        if (kind === undefined) continue;
        for (const field of ["background", "angle_shot"] as const)
          this.add(kind, field, asset.attributes?.[field]);
      }
    }
  }

  addLooks(kind: GenerationKind, looks: readonly Look[]): void {
    for (const { background, angleShot } of looks) {
      this.add(kind, "background", background);
      this.add(kind, "angle_shot", angleShot);
    }
  }

  add(kind: GenerationKind, field: LearnedField, value: unknown): void {
    if (typeof value !== "string" || value === "" || value.length > longestSlug || visible(value) !== value)
      return;
    const isListed =
      field === "background"
        ? hexBackground.test(value) || listBackgrounds(kind).includes(value)
        : allAngleShots(kind).includes(value);
    if (isListed) return;
    const name: LearnedKind = `${kind} ${field}`;
    this.#seen.set(name, (this.#seen.get(name) ?? new Set()).add(value));
  }

  /** Keeps them with earlier ones. An error of the state is ignored: the command has ended. */
  async keep(app: App): Promise<void> {
    for (const [kind, seen] of this.#seen) {
      try {
        const { baseUrl } = await app.connection();
        const before = await learnedValues(app, kind);
        if ([...seen].every((value) => before.includes(value))) continue;
        const values = [...new Set([...before, ...seen])].slice(-mostKept);
        (await app.state()).marks.set(
          baseUrl,
          toMark(kind),
          JSON.stringify(values.map((value) => [value, ""])),
        );
      } catch (error) {
        if (!(error instanceof CatError)) throw error;
      }
    }
  }
}

/** The values of a kind that earlier commands have kept; none without a service or a state. */
export async function learnedValues(app: App, kind: LearnedKind): Promise<string[]> {
  try {
    const { baseUrl } = await app.connection();
    const kept = (await app.state()).marks.get(baseUrl, toMark(kind));
    return kept === null ? [] : (parseJson(kept) as [string, string][]).map(([value]) => value);
  } catch (error) {
    if (error instanceof CatError) return [];
    throw error;
  }
}

/** The values of the looks of a kind that earlier commands have kept. */
export const learnedLooks = async (app: App, kind: GenerationKind): Promise<LearnedLooks> => ({
  background: await learnedValues(app, `${kind} background`),
  angle_shot: await learnedValues(app, `${kind} angle_shot`),
});
