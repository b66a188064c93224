import * as z from "zod";
import { limits } from "../limits.ts";
import { operations } from "../operations.ts";
import { ErrorEnvelope, ImportRefusal, TryonRefusal } from "../resources/errors.ts";
import { ExportAsset, ExportJob, ExportRow, ExportSelection } from "../resources/exports.ts";
import { Name, ProductName, ProductReference, Reference } from "../resources/fields.ts";
import { Image, ImageForm, ImageUpload } from "../resources/images.ts";
import { ImageUrl, Import, ImportRow, ImportRowResult, ImportSubmission } from "../resources/imports.ts";
import {
  PhotosToAttach,
  Product,
  ProductImage,
  ProductPatch,
  ProductToCreate,
} from "../resources/products.ts";
import { BeautifierRequest, Model, Task, TryonInput, TryonRequest, TryonTasks } from "../resources/tasks.ts";
import {
  Webhook,
  WebhookEvent,
  WebhookMaybeWithSecret,
  WebhookPatch,
  WebhookToCreate,
  WebhookWithSecret,
} from "../resources/webhooks.ts";
import { growsMark } from "../response-values.ts";
import { commonNotes, schemaNotes } from "./notes.ts";

/** Schemas of responses and deliveries, by component name. */
export const answered: Readonly<Record<string, z.ZodType>> = {
  Product,
  ProductImage,
  ProductList: operations.products.list.reply,
  ProductImages: operations.products.attach.reply,
  Image,
  ImageUpload,
  Import,
  ImportRowResult,
  ImportRowResultList: operations.imports.rows.reply,
  ImportRefusal,
  ExportRow,
  ExportAsset,
  ExportPage: operations.exports.list.reply,
  ExportJob,
  Task,
  TaskList: operations.tasks.list.reply,
  TryonTasks,
  TryonRefusal,
  Model,
  ModelList: operations.models.list.reply,
  Webhook,
  WebhookWithSecret,
  WebhookMaybeWithSecret,
  WebhookList: operations.webhooks.list.reply,
  WebhookEvent,
  Error: ErrorEnvelope,
};

/** Schemas of requests, by component name: as sent, before trimming and before defaults are filled in. */
export const taken: Readonly<Record<string, z.ZodType>> = {
  ProductToCreate,
  ProductPatch,
  PhotosToAttach,
  ImageForm,
  ImportSubmission,
  ImportRow,
  ExportSelection,
  BeautifierRequest,
  TryonRequest,
  TryonInput,
  WebhookToCreate,
  WebhookPatch,
};

const names = new Map(Object.entries({ ...answered, ...taken }).map(([name, schema]) => [schema, name]));

/** A reference to the component of a contract schema; throws for a schema that has no name here. */
export function refTo(schema: z.ZodType): { $ref: string } {
  const name = names.get(schema);
  if (name === undefined) throw new Error("a schema of an operation has no name in openapi/schemas.ts");
  return { $ref: toRef("schemas", name) };
}

export const toRef = (kind: "schemas" | "responses" | "headers" | "parameters", name: string): string =>
  `#/components/${kind}/${name}`;

export interface JsonObject {
  [key: string]: unknown;
}

export function componentSchemas(): Record<string, JsonObject> {
  const outputs = convert("output");
  const inputs = convert("input");
  const schemas: Record<string, JsonObject> = {};
  for (const name of Object.keys(answered)) schemas[name] = outputs[name]!;
  for (const name of Object.keys(taken)) schemas[name] = inputs[name]!;
  addNotes(schemas);
  for (const name of Object.keys(taken)) describeDefaults(schemas[name]!);
  return schemas;
}

/** A standalone schema: by default of the parsed value, for parameters, which arrive as text. */
export const toSchema = (schema: z.ZodType, io: "input" | "output" = "output"): JsonObject =>
  withoutMarks(z.toJSONSchema(schema, { io, unrepresentable: "any", override }) as JsonObject);

function convert(io: "input" | "output"): Record<string, JsonObject> {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries({ ...answered, ...taken })) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, {
    io,
    unrepresentable: "any",
    override,
    uri: (id) => toRef("schemas", id),
  });
  return Object.fromEntries(
    Object.entries(schemas).map(([id, schema]) => [id, withoutMarks(schema as JsonObject)]),
  );
}

/** Drops the ID and the dialect; a component is identified by its pointer. */
function withoutMarks({ $schema: _dialect, $id: _id, id: _name, ...schema }: JsonObject): JsonObject {
  return schema;
}

/** Adds patterns that the schema library keeps in code, and removes its noise. */
function override({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodTypes; jsonSchema: JsonObject }): void {
  const schema: unknown = zodSchema;
  if (schema === Reference) Object.assign(jsonSchema, { pattern: trimmedReference });
  if (schema === Name || schema === ProductName || schema === ProductReference)
    Object.assign(jsonSchema, { pattern: "\\S" });
  if (schema === ImageUrl) Object.assign(jsonSchema, { pattern: "^[Hh][Tt][Tt][Pp][Ss]://" });
  // The format is enough; the pattern is a page of digits.
  if (jsonSchema.format === "date-time") delete jsonSchema.pattern;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (jsonSchema.minLength === 0) delete jsonSchema.minLength;
  // Objects are open by default: "clients must ignore fields they do not know" (Versioning 3).
  if (isEmpty(jsonSchema.additionalProperties)) delete jsonSchema.additionalProperties;
  delete jsonSchema.propertyNames;
  if (jsonSchema[growsMark] === true) openUp(jsonSchema);
}

/** Describes a set that can grow: the known values, or any other string (Versioning 2). */
function openUp(jsonSchema: JsonObject): void {
  const known = jsonSchema.enum as string[];
  delete jsonSchema[growsMark];
  delete jsonSchema.enum;
  jsonSchema.anyOf = [
    { type: "string", enum: known },
    { type: "string", description: "A value added in a later version." },
  ];
}

const isEmpty = (value: unknown): boolean =>
  typeof value === "object" && value !== null && Object.keys(value).length === 0;

/** Whitespace around a reference is trimmed (Products). */
const trimmedReference = `^\\s*\\S(?:[\\s\\S]{0,${limits.referenceLength.max - 2}}\\S)?\\s*$`;

/** Adds descriptions of `schemaNotes`, else of `commonNotes`; throws for an unknown component or field. */
function addNotes(schemas: Record<string, JsonObject>): void {
  for (const [path, description] of Object.entries(schemaNotes)) {
    const [name = "", ...fields] = path.split(".");
    let matches = schemas[name] === undefined ? [] : [schemas[name]];
    for (const field of fields)
      matches = matches.flatMap((at) =>
        listFields(at).flatMap((fields): JsonObject[] =>
          fields[field] === undefined ? [] : [fields[field]],
        ),
      );
    if (matches.length === 0) throw new Error(`openapi/notes.ts describes ${path}, which does not exist`);
    // Since OpenAPI 3.1 a $ref can have a description next to it.
    for (const at of matches) at.description = description;
  }
  for (const schema of Object.values(schemas)) addCommonNotes(schema);
}

function addCommonNotes(schema: JsonObject): void {
  for (const fields of listFields(schema)) {
    for (const [name, field] of Object.entries(fields)) {
      const description = commonNotes[name];
      if (description !== undefined) field.description ??= description;
      addCommonNotes(field);
    }
  }
}

/** Moves defaults to descriptions: code generators make a request field with a `default` required. */
function describeDefaults(schema: JsonObject): void {
  for (const field of Object.values((schema.properties ?? {}) as Record<string, JsonObject>)) {
    if ("default" in field) {
      const { description } = field;
      field.description = `${description === undefined ? "" : `${description} `}Default: ${field.default}.`;
      delete field.default;
    }
    describeDefaults(field);
  }
}

/** The fields of the objects in a schema: its own, those of list entries, and of each alternative. */
export function listFields(schema: JsonObject): Record<string, JsonObject>[] {
  const {
    properties,
    items,
    anyOf = [],
  } = schema as {
    properties?: Record<string, JsonObject>;
    items?: JsonObject;
    anyOf?: JsonObject[];
  };
  if (properties !== undefined) return [properties];
  return [...(items === undefined ? [] : [items]), ...anyOf].flatMap(listFields);
}
