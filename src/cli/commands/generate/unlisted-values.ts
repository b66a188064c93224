import { questionFor, shortened } from "../../../contract/did-you-mean.ts";
import { isListed, type UnlistedValue, unlistedValues } from "../../../contract/generation-rules.ts";
import { splitValues } from "../../../flows/generate/columns/read-row.ts";
import { meantValues } from "../../../flows/generate/columns/vocabulary.ts";
import type { AskedOfFile, Generation } from "../../../flows/generate/generation.ts";
import type { CostPlan } from "../../../flows/generate/generation-run.ts";
import { normalValue } from "../../../flows/rows/mapped-columns.ts";
import type { InputProblem, Place } from "../../../flows/rows/problem.ts";
import type { ValueMapping } from "../../../flows/rows/vocabulary.ts";
import { counted, shownName } from "../../../flows/words.ts";
import type { App } from "../../app/app.ts";
import { confirmAction } from "../../app/confirm-action.ts";
import { canAsk } from "../../app/prompts.ts";
import { learnedLooks } from "../../completion/learned-values.ts";
import { placeText } from "../../output/problem-groups.ts";
import { wholeMessage } from "../../output/problem-list.ts";
import type { GenerateFlags } from "./flags.ts";

/** A value that the service may not know, for people and for `--json`. */
export interface UnlistedNote extends Place {
  readonly line: number;
  readonly param: UnlistedValue["field"];
  readonly code: "unlisted_value";
  readonly message: string;
  /** Undefined where `--map-value` cannot help. */
  readonly valueFix: ValueMapping | undefined;
  /** The subtype on which the known values depend; null for none. */
  readonly of: string | null;
  readonly known: readonly string[];
  /** How many rows after `line` have the same. */
  readonly others: number;
}

type Looks = readonly Pick<Generation, "kind" | "line" | "background" | "angleShot" | "subtype" | "style">[];

const mostShown = 20;

/** Values that no list and no earlier command has, each once, except those mapped to themselves. */
export async function unlistedNotes(
  app: App,
  flags: GenerateFlags,
  looks: Looks,
  table: AskedOfFile["table"],
): Promise<UnlistedNote[]> {
  const unlisted = new Map<string, { one: UnlistedValue; line: number; lines: Set<number> }>();
  for (const look of looks) {
    for (const value of unlistedValues(look)) {
      const key = JSON.stringify([value.field, value.value, value.of]);
      const { line, lines } = unlisted.get(key) ?? { line: look.line, lines: new Set() };
      unlisted.set(key, { one: value, line: Math.min(line, look.line), lines: lines.add(look.line) });
    }
  }
  if (unlisted.size === 0) return [];
  const learned = { ...(await learnedLooks(app, flags.kind)), style: [] };
  const isKept = (value: string) =>
    [...flags.values.values()].some((some) => some.get(normalValue(value)) === value);
  return [...unlisted.values()]
    .map(({ one, ...at }) => ({ one: { ...one, known: [...one.known, ...learned[one.field]] }, ...at }))
    .filter(({ one }) => !one.known.includes(one.value) && !isKept(one.value))
    .map(({ one, line, lines }) => ({
      line,
      ...table?.placeOfField(line, one.field),
      param: one.field,
      code: "unlisted_value" as const,
      ...toAdvice(one, flags),
      of: one.of,
      known: one.known,
      others: lines.size - 1,
    }))
    .sort((a, b) => a.line - b.line);
}

/** The problem of a value, and how a file can be read instead. */
function toAdvice(
  { field, value, of, known }: UnlistedValue,
  { kind, matrix, file }: GenerateFlags,
): Pick<UnlistedNote, "message" | "valueFix"> {
  const what = `${field} ${shortened(value)}`;
  if (field === "style")
    return { message: `${what} is usual for clothing only, not for ${of}`, valueFix: undefined };
  if (!matrix && splitValues(value).length > 1) {
    const message = `${what} is not a known value: to generate an image for each part, add --matrix`;
    return { message, valueFix: undefined };
  }
  const meant = meantValues(field, value, known);
  const near = questionFor(meant, ": ", (word) => JSON.stringify(word));
  return {
    message: `${what} is not a known value${of === null ? "" : ` for ${of}`}${near}`,
    // A value of another subtype is right in other rows.
    valueFix:
      file === null || isListed(kind, field, value)
        ? undefined
        : { field, from: value, to: meant.length === 1 ? meant[0] : undefined },
  };
}

export const noteJson = (note: InputProblem & Partial<Pick<UnlistedNote, "known">>) => {
  const { line, sheet, cell, reference, param, code, known } = note;
  return { line, sheet, cell, reference, param, code, message: wholeMessage(note), known };
};

/** Shows unlisted values and asks once; with no terminal, or `--yes`, they are sent. Throws UsageError. */
export async function confirmUnlisted(
  app: App,
  flags: GenerateFlags,
  { generations, table }: CostPlan,
  { onNote, pause }: { onNote: (text: string) => void; pause: () => void },
): Promise<UnlistedNote[]> {
  const notes = await unlistedNotes(app, flags, generations, table);
  for (const line of noteLines(flags, notes)) onNote(line);
  if (notes.length === 0 || !canAsk(app)) return notes;
  const action = {
    question: `Send ${counted(notes.length, "unknown value")} to the service?`,
    reason: "unknown values need a confirmation",
    left: "nothing was queued",
  };
  await confirmAction(app, action, pause);
  return notes;
}

/** The notes as lines for people, with the known values below. */
export function noteLines(flags: GenerateFlags, notes: readonly UnlistedNote[]): string[] {
  if (notes.length === 0) return [];
  const named = (param: UnlistedNote["param"]) => (flags.input === "flags" ? fieldFlags[param] : param);
  const lines = notes.slice(0, mostShown).map((note) => {
    const { param, message, others } = note;
    if (flags.input === "flags") return named(param) + message.slice(param.length);
    const rest = others === 0 ? "" : ` (and ${counted(others, "more row")})`;
    return `${placeText(shownName(flags.input), note)}  ${wholeMessage(note)}${rest}`;
  });
  const more = notes.length - mostShown;
  if (more > 0)
    lines.push(
      `${counted(more, "more value")} ${more === 1 ? "is" : "are"} not known; to list all, add --dry-run --json.`,
    );
  const known = notes
    .filter(({ known }) => known.length > 0)
    .map(
      ({ param, of, known }) =>
        `Known values of ${named(param)}${of === null ? "" : ` for ${of}`}: ${known.join(", ")}.`,
    );
  return [...lines, ...new Set(known), "The service decides about these values."];
}

const fieldFlags = { background: "--background", angle_shot: "--angle", style: "--style" } as const;
