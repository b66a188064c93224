import type { Random } from "../../src/mock/seed/seed.ts";
import { type ModelRow, sides } from "../../test/flows/import/merge-model.ts";
import type { Trouble } from "../trouble.ts";
import type { Step } from "./step.ts";
import { makeTroubles } from "./troubles.ts";

export const machines = ["one", "two"] as const;

/** A cell that gets another value. */
export interface Edit {
  readonly reference: string;
  readonly cell: keyof Omit<ModelRow, "reference">;
  readonly value: string;
}

/** A change of a product by another client. */
export interface ClientChange {
  readonly reference: string;
  readonly what: "delete" | "name" | "description" | "attach" | "detach";
  readonly pick: number;
}

export type StoryStep =
  | { readonly do: "client"; readonly change: ClientChange }
  | {
      readonly do: "import";
      readonly machine: (typeof machines)[number];
      readonly exact: boolean;
      readonly edits: readonly Edit[];
      /** One per process started, until one ends by itself. */
      readonly troubles: readonly Trouble<Step>[];
      /**
       * The product that another client renames while a request of the first process waits, or after it was killed; null for
       * none.
       */
      readonly renamed: string | null;
    };

/** One file that two machines import by turns, while another client changes its products. */
export interface Story {
  readonly rows: readonly ModelRow[];
  readonly steps: readonly StoryStep[];
}

/** The photos of the file, by number; an empty cell is empty. */
const photos = ["", "1", "2", "3", "4"];

export function storyOf(random: Random): Story {
  const references = Array.from({ length: 2 + random.below(6) }, (_, at) => `S-${at}`);
  const rows = references.map((reference) => ({
    ...{ reference, name: "Dress", description: random.pick(["", "long"]) },
    ...{ front: "1", back: random.pick(["", "2"]) },
  }));
  const edit = (): Edit => {
    const cell = random.pick(["name", "description", "front", "back", "front", "back"] as const);
    const values = { name: ["Dress", "Coat", "Gown"], description: ["", "long", "short"] };
    const value = random.pick(cell === "name" || cell === "description" ? values[cell] : photos);
    return { reference: random.pick(references), cell, value };
  };
  const steps: StoryStep[] = [importStep(random, { machine: "one", edits: [], references })];
  for (let left = 3 + random.below(4); left > 0; left--) {
    if (random.next() < 0.4) steps.push({ do: "client", change: clientChange(random, references) });
    else {
      const edits = Array.from({ length: random.below(7) }, edit);
      steps.push(importStep(random, { machine: random.pick(machines), edits, references }));
    }
  }
  return { rows, steps };
}

const clientChange = (random: Random, references: readonly string[]): ClientChange => ({
  reference: random.pick(references),
  what: random.pick(["delete", "name", "name", "description", "attach", "detach"] as const),
  pick: random.below(8),
});

function importStep(
  random: Random,
  rest: { machine: (typeof machines)[number]; edits: readonly Edit[]; references: readonly string[] },
): StoryStep {
  const { references, ...step } = rest;
  const isDisturbed = random.next() < 0.7;
  const weights = { hasPhotos: true, hasPatches: true, only: undefined, isRepeatable: true };
  const troubles = isDisturbed ? makeTroubles(random, weights).slice(0, 2).map(takingPhotos) : [];
  const renamed = isDisturbed && random.next() < 0.25 ? random.pick(references) : null;
  if (renamed !== null && random.next() < 0.5)
    troubles[0] = { ...troubles[0]!, overtaken: { step: random.pick(["sending calls", "changing fields"]) } };
  return { do: "import", ...step, exact: random.next() < 0.15, troubles, renamed };
}

/** A gateway's 413 is about the photo, and fails its row. */
const takingPhotos = (trouble: Trouble<Step>): Trouble<Step> =>
  trouble.gateway?.status === 413 ? { ...trouble, gateway: { ...trouble.gateway, status: 403 } } : trouble;

/** The rows after edits: none without a photo, and none with one photo for both sides, which would be invalid. */
export function editedRows(rows: readonly ModelRow[], edits: readonly Edit[]): ModelRow[] {
  const now = new Map(rows.map((row) => [row.reference, row]));
  for (const { reference, cell, value } of edits) {
    const row = { ...now.get(reference)!, [cell]: value };
    if (row.front !== row.back && sides.some((side) => row[side] !== "")) now.set(reference, row);
  }
  return [...now.values()];
}
