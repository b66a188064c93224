import { Random } from "../../src/mock/seed/seed.ts";
import type { Trouble } from "../trouble.ts";
import type { Control } from "./controls.ts";
import { makeRows } from "./rows.ts";
import { type Scenario, withoutFailures } from "./scenario.ts";
import type { Step } from "./step.ts";
import type { Edit, Story, StoryStep } from "./story.ts";

type Needs = Partial<
  Pick<Scenario, "photos" | "earlier" | "meddling" | "earlierAheadMs" | "troubles" | "story">
>;

/** Nothing happens to the process. */
const undisturbed: Trouble<Step> = {
  ...{ kill: { step: null, nth: 10_000, at: "arrived", waitMs: 0 }, orAtItsEnd: false, faults: [] },
  ...{ failsAfterWork: null, restart: null },
};

const reference = "S-1";
const othersRename: StoryStep = { do: "client", change: { reference, what: "name", pick: 1 } };

/** An import of the file after an edit, which nothing disturbs. */
const imported = (machine: "one" | "two", edit?: readonly [Edit["cell"], string]): StoryStep => ({
  ...{ do: "import", machine, exact: false, troubles: [], renamed: null },
  edits: edit === undefined ? [] : [{ reference, cell: edit[0], value: edit[1] }],
});

/** A file of two products, and what happens after its first import. */
const storyAbout = (...steps: StoryStep[]): Story => ({
  rows: ["S-0", reference].map((one) => ({
    ...{ reference: one, name: "Dress", description: "long", front: "1", back: "" },
  })),
  steps: [imported("one"), ...steps],
});

/** What the fault of a control needs to show. */
const needs: Readonly<Record<Control, (rows: Scenario["rows"]) => Needs>> = {
  /** Killed after the service has accepted the first batch, before the response arrives. */
  "new-key": () => ({
    troubles: [{ ...undisturbed, kill: { step: "sending calls", nth: 1, at: "done", waitMs: 0 } }],
  }),
  /** The file is imported again with more photos. */
  "no-ledger": (rows) => ({ earlier: rows.map((row) => ({ ...row, images: row.images.slice(0, 1) })) }),
  /** A gateway passes the first batch on, and responds to all of its attempts. */
  "trust-gateway": () => {
    const gateway = { step: "sending calls", status: 400, passesOn: true, times: 10_000 } as const;
    return { troubles: [{ ...undisturbed, gateway }] };
  },
  /** A batch waits for the rate limit window after its response was lost. */
  "old-key": () => ({
    troubles: [{ ...undisturbed, sleep: { step: "sending calls", nightMs: 25 * 3_600_000 } }],
  }),
  /**
   * The command is started a second time while its first batch is sent; nothing but the run keeps photos from doubling. The
   * first one waits long enough for a second start on a busy machine.
   */
  "no-hold": () => {
    const faults = [{ match: { method: "POST", path: "/v1/imports" }, delay_ms: 20_000, times: 1 }];
    const twice = { step: "sending calls", waitMs: 0 } as const;
    return { photos: "all", troubles: [{ ...undisturbed, faults, twice }] };
  },
  /** Others rename a product that is not edited. */
  "forget-before": () => ({ story: storyAbout(othersRename, imported("one")) }),
  /** Others rename a product that is renamed in the file too. */
  "overwrite-theirs": () => ({ story: storyAbout(othersRename, imported("one", ["name", "Gown"])) }),
  /** Others rename a product while the batch with its new name and photo waits. */
  "send-late": () => ({
    story: storyAbout({
      ...{ do: "import", machine: "one", exact: false, renamed: reference },
      edits: [
        { reference, cell: "name", value: "Gown" },
        { reference, cell: "back", value: "3" },
      ],
      troubles: [{ ...undisturbed, overtaken: { step: "sending calls" } }],
    }),
  }),
  /** A second machine imports the file, with another photo. */
  "never-compare": () => ({ story: storyAbout(imported("two", ["back", "3"])) }),
  "keep-replaced": () => ({ story: storyAbout(imported("one", ["front", "3"])) }),
  "detach-first": () => ({ story: storyAbout(imported("one", ["front", "3"])) }),
};

/** A scenario with that trouble alone, for an empty service. */
export function underControl(
  { seed, format }: Pick<Scenario, "seed" | "format">,
  control: Control,
): Scenario {
  const random = Random.from(`import control ${seed}`);
  const size = 5 + random.below(20);
  const rows = makeRows(random, size, { hasPhotos: false }).map(withoutFailures);
  return {
    ...{ seed, format, rows, mode: "upsert", onImageError: "skip", photos: null, concurrency: 4 },
    ...{ namesOutputs: true, hasLedgerFile: false },
    ...{
      earlier: null,
      existing: [],
      meddling: [],
      earlierAheadMs: 0,
      troubles: [],
      detour: null,
      story: null,
    },
    ...needs[control](rows),
  };
}
