import * as z from "zod";
import { importModes, importStatuses } from "../../contract/value-sets.ts";
import { plannedActions } from "../../flows/import/plan.ts";
import { count, optionalText, problem, template, text } from "./summaries.ts";

/** The same in an import, which may have a folder of photos instead of rows. */
const problemOfImport = problem.extend({ photo: optionalText });

const span = z.looseObject({ first_line: z.int(), last_line: z.int(), rows: count });

/** Rows with repeated references that `--merge-rows` would import. */
const mergeable = z.looseObject({ products: count, rows: count });

/** The fields of both a plan and a summary. */
const shared = {
  kept: count,
  conflicts: count,
  deleted: count,
  photos: z.looseObject({ added: count, replaced: count, removed: count, moved: count, adopted: count }),
  not_applied: z.looseObject({ emptied: count, removed: count }),
  known_failures: count,
};

const sums = {
  total: count,
  invalid: count,
  submitted: count,
  succeeded: count,
  partial: count,
  failed: count,
  created: count,
  updated: count,
  skipped: count,
  unchanged: count,
  ...shared,
  duration_ms: count,
};

const importedFile = z.looseObject({
  run_id: text.nullable(),
  file: text,
  mode: z.enum(importModes),
  ...sums,
  /** Only of an import that was rejected before anything was sent. */
  valid: count.optional(),
  imports: z.array(z.looseObject({ id: text, status: z.enum(importStatuses), rows: count })),
  converted: count.optional(),
  failed_file: text.nullable(),
  results_file: text.nullable(),
  results_rows: count.optional(),
  left: count.optional(),
  mergeable: mergeable.optional(),
  unknown: z.array(span).optional(),
  refused: z.array(span).optional(),
  problems: z.array(problemOfImport).optional(),
  unread: z.array(text).optional(),
  unwritten: z.array(text).optional(),
});

const checkedFile = z.looseObject({
  file: text,
  problems: z.array(problemOfImport),
  total: count,
  valid: count,
  invalid: count,
  left: count.optional(),
  mergeable: mergeable.optional(),
  converted: count.optional(),
});

/** The first line with `--plan`: its input. */
const planHead = z.looseObject({
  plan: z.int(),
  id: text,
  identity: text,
  created_at: text,
  file: text,
  file_sha256: text,
  base_url: text,
  account: text,
  flags: z.record(text, z.any()),
});

const change = z.tuple([text.nullable(), text.nullable()]);

/** A row of a plan, with the product as it was read. */
const plannedRow = z.looseObject({
  line: z.int(),
  reference: text,
  action: z.enum(plannedActions),
  fields: z.looseObject({ name: change, description: change, sex: change }).partial(),
  photos: z.array(text),
  detached: z.array(z.looseObject({ image_id: text, why: z.enum(["replaced", "removed"]) })).optional(),
  moved: z.array(z.looseObject({ image_id: text, orientation: text })).optional(),
  conflict: z.looseObject({ code: text, message: text }).optional(),
  seen: z
    .looseObject({
      id: text,
      name: text.nullable(),
      description: text.nullable(),
      sex: text.nullable(),
      images: z.array(text),
    })
    .nullable(),
});

/** The counts of a plan: with `--plan`, after one line per row. */
const planCounts = z.looseObject({
  total: count,
  invalid: count,
  create: count,
  change: count,
  add_photos: count,
  unchanged: count,
  skip: count,
  fail: count,
  fields: z.looseObject({ name: count, description: count, sex: count }),
  ...shared,
  requests: count,
  uploads: count,
  sha256: optionalText,
  plan_file: optionalText,
});

/** `cat import`: a summary, also of several files, the result of a check, a plan, or template columns. */
export const importOutput = z.union([
  importedFile,
  checkedFile,
  z.looseObject({
    ...sums,
    valid: count.optional(),
    files: z.array(importedFile),
    not_started: z.array(text).optional(),
  }),
  z.looseObject({ files: z.array(checkedFile), total: count, valid: count, invalid: count }),
  planHead,
  plannedRow,
  planCounts,
  template,
]);
