import { didYouMean, questionFor, shortened } from "../../../contract/did-you-mean.ts";
import { type UnlistedValue, unlistedValues } from "../../../contract/generation-rules.ts";
import { splitValues } from "../../../flows/generate/columns/read-row.ts";
import type { AskedOfFile, Generation } from "../../../flows/generate/generation.ts";
import type { CostPlan } from "../../../flows/generate/generation-run.ts";
import type { Place } from "../../../flows/rows/problem.ts";
import { counted, grouped, shownName } from "../../../flows/words.ts";
import type { App } from "../../app/app.ts";
import { confirmAction } from "../../app/confirm-action.ts";
import { canAsk } from "../../app/prompts.ts";
import { learnedValues } from "../../completion/learned-values.ts";
import { placeText } from "../../output/problem-groups.ts";
import type { GenerateFlags } from "./flags.ts";

/** A value that the service may not know, for people and for `--json`. */
export interface UnlistedNote extends Place {
  readonly line: number;
  readonly param: UnlistedValue["field"];
  readonly code: "unlisted_value";
  readonly message: string;
  /** How many rows after `line` have the same. */
  readonly others: number;
}

type Looks = readonly Pick<Generation, "kind" | "line" | "background" | "angleShot" | "subtype" | "style">[];

/** So many values are shown one by one. */
const mostShown = 20;

/** The values of an input that neither the lists of this program nor earlier commands have, each once. */
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
  const learned = {
    background: await learnedValues(app, `${flags.kind} background`),
    angle_shot: await learnedValues(app, `${flags.kind} angle_shot`),
    style: [] as string[],
  };
  return [...unlisted.values()]
    .filter(({ one }) => !learned[one.field].includes(one.value))
    .map(({ one, line, lines }) => ({
      line,
      ...table?.placeOfField(line, one.field),
      param: one.field,
      code: "unlisted_value" as const,
      message: toMessage(one, learned[one.field], flags.matrix),
      others: lines.size - 1,
    }))
    .sort((a, b) => a.line - b.line);
}

function toMessage(
  { field, value, of, known }: UnlistedValue,
  learned: readonly string[],
  matrix: boolean,
): string {
  const what = `${field} ${shortened(value)}`;
  if (field === "style") return `${what} is usual for clothing only, not for ${of}`;
  if (!matrix && splitValues(value).length > 1)
    return `${what} is not a known value: to generate an image for each part, add --matrix`;
  const meant = didYouMean(value, [...known, ...learned]);
  const near = questionFor(meant, ": ", (word) => JSON.stringify(word));
  return `${what} is not a known value${of === null ? "" : ` for ${of}`}${near}`;
}

/**
 * Shows the values that the service may not know, and asks a person once whether to send them. Without a terminal, or with
 * `--yes`, they are sent: the service decides. Throws UsageError.
 */
export async function confirmUnlisted(
  app: App,
  flags: GenerateFlags,
  { generations, table }: Pick<CostPlan, "generations" | "table">,
  { onNote, pause }: { onNote: (text: string) => void; pause: () => void },
): Promise<void> {
  const notes = await unlistedNotes(app, flags, generations, table);
  if (notes.length === 0) return;
  for (const line of noteLines(flags, notes)) onNote(line);
  if (!canAsk(app)) return;
  const action = {
    question: `Send ${counted(notes.length, "unknown value")} to the service?`,
    reason: "unknown values need a confirmation",
    left: "nothing was queued",
  };
  await confirmAction(app, action, pause);
}

/** The notes as lines for people. */
export function noteLines(flags: GenerateFlags, notes: readonly UnlistedNote[]): string[] {
  const lines = notes.slice(0, mostShown).map(({ param, message, others, ...place }) => {
    if (flags.input === "flags") return fieldFlags[param] + message.slice(param.length);
    const rest = others === 0 ? "" : ` (and ${counted(others, "more row")})`;
    return `${placeText(shownName(flags.input), place)}  ${message}${rest}`;
  });
  if (notes.length > mostShown) lines.push(`${grouped(notes.length - mostShown)} more values are not known.`);
  return [...lines, "The service decides about these values."];
}

const fieldFlags = { background: "--background", angle_shot: "--angle", style: "--style" } as const;
