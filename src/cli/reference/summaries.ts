import * as z from "zod";
import { sheetFormats } from "../flags/common-flags.ts";

// Outputs of `--json` that no resource of the service describes; a test holds these schemas against real
// ones. Objects are loose, because fields may be added.

export const count = z.int().min(0);
export const text = z.string();
export const optionalText = z.string().optional();
export const failure = z.looseObject({ code: text, message: text });
const sentJob = { status: text, at: text, base_url: text, run_id: text };

/** A problem of a row, as a check reports it. */
export const problem = z.looseObject({
  line: z.int().optional(),
  first_line: z.int().optional(),
  last_line: z.int().optional(),
  sheet: optionalText,
  cell: optionalText,
  reference: optionalText,
  param: optionalText,
  code: text,
  message: text,
});

/** A table that a command wrote for its rows. */
export const template = z.looseObject({ file: text, columns: z.array(text) });

/** `cat runs list` and `get` */
export const listedRun = z.looseObject({
  run_id: text,
  kind: text,
  file: text,
  status: z.enum(["running", "unfinished", "ended"]),
  exit: z.int().nullable(),
  counts: z.record(text, count).nullable(),
  started_at: text,
  ended_at: text.nullable(),
  duration_ms: count.nullable(),
  who: text.nullable(),
  folder: text.nullable(),
  command: text.nullable(),
  undone: z.enum(["no", "partly", "yes"]).nullable(),
  base_url: text.nullable(),
  ledger: text.nullable(),
});

/** `cat imports undo` */
export const undoOutput = z.looseObject({
  run_id: text,
  undoes: text,
  /** Only with `--plan`. */
  plan: z.literal(true).optional(),
  file: text,
  total: count,
  undone: count,
  kept: count,
  failed: count,
  deleted: count,
  set_back: count,
  detached: count,
  attached: count,
  unresolved: count,
  products: z.array(
    z.looseObject({ reference: text, product_id: text, result: text, reasons: z.array(text) }),
  ),
});

export const rejectedFile = z.looseObject({
  file: text,
  total: count,
  valid: count,
  invalid: count,
  problems: z.array(problem),
});

const removed = {
  file: text,
  dry_run: z.boolean(),
  /** The number of things in the file: the counts below add up to it. */
  total: count,
  gone: count,
  kept: count,
  remaining: count,
  not_found: count,
  problems: z.array(problem),
};
const removedRow = {
  line: z.int(),
  sheet: optionalText,
  cell: optionalText,
  reference: text.nullable(),
  result: text,
  reason: optionalText,
};

/** `cat products delete --from` */
export const deletionOutput = [
  z.looseObject({
    ...removed,
    deleted: count,
    products: z.array(z.looseObject({ ...removedRow, id: text, name: text })),
  }),
  rejectedFile,
] as const;

/** `cat products detach --from` */
export const detachmentOutput = [
  z.looseObject({
    ...removed,
    detached: count,
    photos: z.array(z.looseObject({ ...removedRow, product_id: text, image_id: text })),
  }),
  rejectedFile,
] as const;

/** A photo of several that `cat images upload` was given and the service rejects. */
export const rejectedUpload = z.looseObject({
  file: text,
  id: z.null(),
  mime_type: z.null(),
  created_at: z.null(),
  error: z.looseObject({ code: text, message: text }),
});

/** `cat tasks review` */
export const reviewOutput = z.looseObject({
  file: text,
  approved: count,
  rejected: count,
  undecided: count,
  reversed: count,
  later: count,
  /** Only with `--mirror`: images about which another decision counts there. */
  overruled: count.optional(),
  decisions_file: optionalText,
  total: count.optional(),
  valid: count.optional(),
  invalid: count.optional(),
  problems: z.array(problem).optional(),
});

/** A saved export, of `cat export` and `cat exports download`. */
export const savedExport = z.looseObject({
  run_id: optionalText,
  products: count.optional(),
  assets: count,
  deleted: count.optional(),
  missing: count.optional(),
  /** Images that are left out by their decisions: only with `--approved` or `--not-rejected`. */
  rejected: count.optional(),
  not_reviewed: count.optional(),
  unlabeled: count.optional(),
  files: z.array(z.looseObject({ path: text, bytes: count })),
  jobs: z.array(z.looseObject({ id: text, status: text })),
  duration_ms: count,
});

/** `cat export sync` */
export const syncOutput = z.looseObject({
  run_id: text,
  total: count,
  added: count,
  changed: count,
  renamed: count,
  removed: count,
  unchanged: count,
  failed: count,
  bytes: count.nullable(),
  index_file: text,
  duration_ms: count,
  rejected: count.optional(),
  not_reviewed: count.optional(),
  unlabeled: count.optional(),
  failures: z
    .array(
      z.looseObject({
        product_id: text,
        asset_id: text,
        reference: text.nullable(),
        code: text,
        message: text,
      }),
    )
    .optional(),
});

export const sentImport = z.looseObject({ id: text, file: text, rows: count, mode: text, ...sentJob });
export const sentExport = z.looseObject({ id: text, file: text, products: count, format: text, ...sentJob });

const look = z.looseObject({ background: text, angle_shot: text });

/** The output of `cat products export FILE`. */
export const exportedSheet = z.looseObject({
  file: text,
  format: z.enum(sheetFormats),
  products: count,
  skipped: count,
});

/** `cat products coverage --looks`. */
export const writtenLooks = z.looseObject({
  file: text,
  kind: z.enum(["tryon", "beautify"]),
  products: count,
  looks: count,
});

/** A line of `cat products coverage`. */
export const coverageRow = z.looseObject({
  reference: text.nullable(),
  name: text.nullable(),
  photos: z.array(text),
  beautified: z.array(look),
  tryons: z.array(look.extend({ model_id: text, model_name: text.nullable() })),
  rejected: count,
  id: text,
});

/** A line of `cat webhooks trigger` and `replay`. */
export const delivered = z.looseObject({
  id: text,
  type: text,
  url: text,
  status: z.int().nullable(),
  response: text,
  ms: count,
  failure: optionalText,
});

/** A line of `cat webhooks trigger --torture`. */
export const tortured = z.looseObject({
  name: text,
  expected: text,
  responses: z.array(text),
  ok: z.boolean(),
  why: optionalText,
  failure: optionalText,
});

/** The lines of `cat webhooks listen`. */
export const listenOutput = z.union([
  z.looseObject({ listening: text.nullable(), webhook_id: text.nullable(), signing_secret: optionalText }),
  z.looseObject({
    id: text,
    type: text,
    created_at: text,
    data: z.looseObject({}),
    received_at: text,
    missed: z.literal(true).optional(),
  }),
]);

/** `cat whoami`, `cat login` */
export const account = z.looseObject({
  profile: text.nullable(),
  label: optionalText,
  base_url: text,
  base_url_source: text.nullable().optional(),
  key: text,
  key_source: text,
  products_read: z.boolean(),
});

/** `cat doctor --parity` */
export const parityOutput = z.object({
  parity: z.string(),
  here: z.int(),
  there: z.int(),
  without_reference: z.int(),
  photos: z.int(),
  differences: z.array(
    z.object({
      reference: z.string(),
      what: z.enum(["missing", "extra", "name", "description", "sex", "orientations", "photo"]),
      here: z.string().optional(),
      there: z.string().optional(),
      orientation: z.string().optional(),
    }),
  ),
});

/** `cat doctor` */
export const doctorOutput = z.looseObject({
  checks: z.array(
    z.looseObject({
      name: text,
      status: z.enum(["ok", "warning", "error", "skipped"]),
      message: text,
      hint: optionalText,
      code: optionalText,
    }),
  ),
  exit: count,
});

const setting = z.union([text, z.boolean()]).nullable();

/** A line of `cat config list`, and the result of `set` and `unset`. */
export const settingRow = z.looseObject({
  profile: text,
  active: z.boolean(),
  setting: text,
  value: setting,
});
export const settingChange = z.looseObject({ profile: text.nullable(), setting: text, value: setting });

/** A line of `cat config mapping`. */
export const mappingRow = z.looseObject({
  kind: text,
  field: text.nullable(),
  name: text,
  read_as: text.nullable(),
  files: text,
  from: text,
});
