import type * as z from "zod";
import { ErrorEnvelope, ImportRefusal, TryonRefusal } from "../error-codes.ts";
import { operations } from "../operations.ts";
import { ExportAsset, ExportJob, ExportRow, ExportSelection } from "../resources/exports.ts";
import { Image, ImageForm, ImageUpload } from "../resources/images.ts";
import { Import, ImportRow, ImportRowResult, ImportSubmission } from "../resources/imports.ts";
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
  if (name === undefined) throw new Error("a schema of an operation has no name in openapi/components.ts");
  return { $ref: refOf("schemas", name) };
}

/** The pointer to a component of the document. */
export const refOf = (kind: "schemas" | "responses" | "headers" | "parameters", name: string): string =>
  `#/components/${kind}/${name}`;
