import * as z from "zod";
import { count, failure, optionalText, problem, template, text } from "./summaries.ts";

const generated = z.looseObject({
  /** Null if the input was rejected before anything was queued, with `file`, `valid` and `problems`. */
  run_id: text.nullable(),
  file: optionalText,
  valid: count.optional(),
  problems: z.array(problem).optional(),
  total: count,
  queued: count,
  unchanged: count,
  succeeded: count,
  failed: count,
  tasks: z.array(
    z.looseObject({
      id: text,
      status: text,
      line: z.int(),
      output_file: optionalText,
      failure_reason: failure.optional(),
      label: z.boolean().optional(),
    }),
  ),
  duration_ms: count,
  existing: count.optional(),
  existing_unknown: count.optional(),
  in_progress: count.optional(),
  left: count.optional(),
  invalid: count.optional(),
  rejected: z.array(z.looseObject({ line: z.int(), code: text, message: text })).optional(),
  not_queued: count.optional(),
  unknown: count.optional(),
  credits: z.looseObject({ left: z.number(), short: z.number() }).optional(),
  unlabeled: count.optional(),
  unsaved: z.array(z.looseObject({ id: text, message: text })).optional(),
  failed_file: optionalText,
  results_file: optionalText,
  gallery_file: optionalText,
  notes: z.array(problem).optional(),
});

const generationCheck = z.looseObject({
  file: text,
  total: count,
  valid: count,
  invalid: count,
  generations: count,
  batches: count,
  unchanged: count.optional(),
  existing: count.optional(),
  existing_unknown: count.optional(),
  in_progress: count.optional(),
  left: count.optional(),
  problems: z.array(problem),
  notes: z.array(problem).optional(),
});

/** `cat tryon`, `cat beautify` */
export const generateOutput = z.union([generated, generationCheck, template]);
