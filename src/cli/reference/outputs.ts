import * as z from "zod";
import { type JsonObject, toSchema } from "../../contract/openapi/schemas.ts";
import { ExportJob, ExportRow } from "../../contract/resources/exports.ts";
import { Image, ImageUpload } from "../../contract/resources/images.ts";
import { Import, ImportRow, ImportRowResult } from "../../contract/resources/imports.ts";
import { Product, ProductImage } from "../../contract/resources/products.ts";
import { Model, Task } from "../../contract/resources/tasks.ts";
import { Webhook, WebhookWithSecret } from "../../contract/resources/webhooks.ts";
import { ExitCode } from "../context/errors.ts";
import { generateOutput } from "./generate-output.ts";
import { importOutput } from "./import-output.ts";
import * as summaries from "./summaries.ts";

/** The stdout of a command with `--json`, and its exit statuses beyond those of every command. */
export interface CommandOutput {
  /** `json`: one value; `ndjson`: a value per line. */
  readonly form: "json" | "ndjson";
  /** The flag or argument with which a command of form `json` prints a value per line. */
  readonly ndjson_with?: string;
  /** The flag that limits a value to the chosen fields, under the names as typed; null without one. */
  readonly fields_with?: string;
  readonly schema: JsonObject;
  readonly exit_statuses: readonly number[];
}

/** The exit statuses that every command can have. */
const always = [
  ExitCode.done,
  ExitCode.fault,
  ExitCode.usage,
  ExitCode.hungUp,
  ExitCode.interrupted,
  ExitCode.terminated,
];

const { rejected, denied, notFound, conflict, unavailable, partial } = ExitCode;
/** Those of a command that sends requests, and of one that sends a resource or its ID. */
const requests = [denied, unavailable];
const reads = [...requests, rejected];
const byId = [...requests, notFound, rejected];
const changes = [...byId, conflict];

const entry =
  (form: CommandOutput["form"]) =>
  (schema: z.ZodType, exits: readonly number[] = [], ndjsonWith?: string): (() => CommandOutput) =>
  () => ({
    form,
    ...(ndjsonWith !== undefined && { ndjson_with: ndjsonWith }),
    schema: toSchema(schema),
    exit_statuses: [...always, ...exits].sort((a, b) => a - b),
  });

const json = entry("json");
const lines = entry("ndjson");

const deleted = z.looseObject({ id: z.string(), deleted: z.literal(true) });
const introduced = z.looseObject({ base_url: z.string(), api_key: z.string() });

const anyObject = z.record(z.string(), z.any());
/** With NAME, only its commands and exit statuses. */
const listedCommands = z.looseObject({
  version: z.string(),
  commands: z.array(anyObject),
  global_flags: z.array(anyObject).optional(),
  topics: z.array(z.looseObject({ name: z.string(), summary: z.string() })).optional(),
  exit_statuses: z.array(z.looseObject({ status: z.int(), meaning: z.string() })),
});

/** By command. A test fails for one without an entry, and compares the schemas with real outputs. */
const outputs: Readonly<Record<string, () => CommandOutput>> = {
  import: json(importOutput, [...changes, partial, ExitCode.changes], "--plan"),
  "imports list": lines(summaries.sentImport),
  "imports get": json(Import, byId),
  "imports watch": json(Import, [...byId, partial]),
  "imports rows": lines(ImportRowResult.extend({ file_line: z.int().optional() }), byId),
  "imports undo": json(summaries.undoOutput, [...changes, partial]),
  "runs list": lines(summaries.listedRun),
  "runs get": json(summaries.listedRun, [notFound]),
  tryon: json(generateOutput, [...changes, partial]),
  beautify: json(generateOutput, [...changes, partial]),
  "tasks list": lines(Task, byId),
  "tasks get": json(Task, byId),
  "tasks watch": lines(savedTask(), [...byId, partial]),
  "tasks save": lines(savedTask(), [...byId, partial]),
  "tasks review": json(summaries.reviewOutput, [...byId, conflict]),
  export: lines(z.union([ExportRow, summaries.savedExport, summaries.rejectedFile]), [...changes, partial]),
  "export sync": json(z.union([summaries.syncOutput, summaries.rejectedFile]), [...reads, conflict, partial]),
  "exports list": lines(summaries.sentExport),
  "exports get": json(ExportJob, byId),
  "exports watch": json(ExportJob, byId),
  "exports download": json(summaries.savedExport, [...changes, partial]),
  "products list": lines(Product, reads),
  "products get": json(Product, byId),
  "products export": json(
    z.union([summaries.exportedSheet, ImportRow.extend({ as_exported: z.string() })]),
    reads,
    "-",
  ),
  "products coverage": lines(
    z.union([summaries.coverageRow, summaries.writtenLooks, summaries.rejectedFile]),
    byId,
  ),
  "products create": json(Product, changes),
  "products update": json(Product, changes),
  "products delete": lines(
    z.union([deleted.extend({ reference: z.string().nullable() }), ...summaries.deletionOutput]),
    [...changes, partial],
  ),
  "products attach": lines(ProductImage, changes),
  "products detach": json(
    z.union([
      z.looseObject({ product_id: z.string(), image_id: z.string(), detached: z.literal(true) }),
      ...summaries.detachmentOutput,
    ]),
    [...changes, partial],
  ),
  "images get": json(Image.extend({ label: z.boolean().optional() }), byId),
  "images upload": lines(z.union([ImageUpload.extend({ file: z.string() }), summaries.rejectedUpload]), [
    ...reads,
    conflict,
    partial,
  ]),
  "models list": lines(Model, reads),
  "models get": json(Model, [...byId, rejected]),
  "webhooks list": lines(Webhook, reads),
  "webhooks get": json(Webhook, byId),
  "webhooks create": json(WebhookWithSecret, changes),
  "webhooks update": json(Webhook, changes),
  "webhooks delete": json(deleted, changes),
  "webhooks rotate": json(WebhookWithSecret, changes),
  "webhooks listen": lines(summaries.listenOutput, changes),
  "webhooks replay": lines(summaries.delivered, [denied, notFound, unavailable, partial]),
  "webhooks trigger": lines(z.union([summaries.delivered, summaries.tortured]), [
    denied,
    unavailable,
    partial,
  ]),
  "webhooks verify": json(z.looseObject({ valid: z.literal(true), age_seconds: z.int() }), [
    rejected,
    denied,
  ]),
  serve: json(introduced, [rejected, partial]),
  api: json(z.any(), changes, "--paginate"),
  login: json(summaries.account, requests),
  logout: json(z.looseObject({ profile: z.string(), removed: z.boolean() }), [denied]),
  whoami: json(summaries.account, reads),
  doctor: json(z.union([summaries.doctorOutput, summaries.parityOutput]), [...reads, notFound, partial]),
  "config list": lines(summaries.settingRow),
  "config get": json(z.union([z.string(), z.boolean(), z.record(z.string(), z.any())]), [notFound]),
  "config set": json(summaries.settingChange),
  "config unset": json(summaries.settingChange),
  "config path": json(z.looseObject({ path: z.string() })),
  "config mapping": lines(summaries.mappingRow, [rejected]),
  commands: json(z.union([listedCommands, z.looseObject({ skill: z.string() })])),
  mcp: lines(z.looseObject({ jsonrpc: z.literal("2.0") }), [rejected]),
  completion: json(z.looseObject({ shell: z.string(), script: z.string() })),
};

function savedTask() {
  return Task.extend({ output_file: z.string().optional(), label: z.boolean().optional() });
}

/** The output of a command by its words, e.g. `products list`, and its flags. Throws for an unknown one. */
export function findOutput(command: string, flags: readonly { flag: string }[] = []): CommandOutput {
  const output = outputs[command];
  if (output === undefined) throw new Error(`add cat ${command} to src/cli/reference/outputs.ts`);
  const choosing = flags.find(({ flag }) => flag === "--fields");
  return { ...output(), ...(choosing !== undefined && { fields_with: choosing.flag }) };
}
