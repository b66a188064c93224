import { describe, expect, test } from "vitest";
import type * as z from "zod";
import { creditHeaders, errorCodes, errorTypes } from "../../src/contract/error-codes.ts";
import {
  keyLifeMs,
  limits,
  optionRanges,
  requestIdPattern,
  ulidPattern,
  webhookRetryTotalMs,
} from "../../src/contract/limits.ts";
import { everyOperation } from "../../src/contract/operations.ts";
import { ExportAsset, ExportJob, ExportRow, ExportSelection } from "../../src/contract/resources/exports.ts";
import { Image, ImageUpload } from "../../src/contract/resources/images.ts";
import { Import, ImportRowResult } from "../../src/contract/resources/imports.ts";
import { Product, ProductImage } from "../../src/contract/resources/products.ts";
import { Model, Task } from "../../src/contract/resources/tasks.ts";
import { Webhook, WebhookEvent, WebhookWithSecret } from "../../src/contract/resources/webhooks.ts";
import * as sets from "../../src/contract/value-sets.ts";

// The tables of the specification, typed by hand: a change of the contract needs the same change here.

const minute = 60_000;
const hour = 60 * minute;
const megabyte = 1_048_576;

test.each([
  ["Read rate (GET)", limits.readsPerMinute, 600],
  ["Write rate (POST, PATCH, DELETE)", limits.writesPerMinute, 60],
  ["Rate window", limits.rateWindowMs, minute],
  ["Page size", limits.page, { min: 1, max: 100, default: 25 }],
  ["Import rows per request", limits.importRows, { min: 1, max: 2_000 }],
  ["Import body size", limits.importBodyBytes, 8 * megabyte],
  ["Images per import row", limits.imagesPerProduct, { min: 1, max: 20 }],
  ["Import reference length", limits.referenceLength, { min: 1, max: 100 }],
  ["Import name length", limits.nameLength, { min: 1, max: 200 }],
  ["Import description length", limits.descriptionLength, { max: 2_000 }],
  ["Image size", limits.imageBytes, 10 * megabyte],
  ["Import image URL availability", limits.importUrlAvailabilityMs, 24 * hour],
  ["Products per export job", limits.exportProducts, 500],
  ["Tryon inputs per request", limits.tryonInputs, { min: 1, max: 20 }],
  ["Styling products per tryon input", limits.stylings, { max: 10 }],
  ["Signed URL lifetime", limits.signedUrlMs, hour],
  ["Idempotency key length", limits.idempotencyKeyLength, 255],
  ["Idempotency key lifetime", limits.idempotencyKeyMs, 24 * hour],
  ["Request ID length", limits.requestIdLength, 128],
  ["Job polling interval, in seconds", limits.jobPollSeconds, 5],
  ["Webhook handler timeout", limits.webhookTimeoutMs, 10_000],
  ["Webhook retry schedule", limits.webhookRetryMs, [minute, 5 * minute, 15 * minute, hour, 6 * hour]],
  ["Signature tolerance, in seconds", limits.signatureToleranceSeconds, 300],
])("%s", (_name, actual, expected) => {
  expect(actual).toEqual(expected);
});

test("a request ID has 1 to 128 letters, digits and four punctuation characters", () => {
  for (const id of ["a", "Az09._:-", "x".repeat(128)]) expect(id).toMatch(requestIdPattern);
  for (const id of ["", "x".repeat(129), "a b", "a/b", "\u00e9", "a\n"])
    expect(id).not.toMatch(requestIdPattern);
});

test("an export selection has up to 500 products, or none", () => {
  const ids = (count: number) => ({ product_ids: Array.from({ length: count }, () => "x"), role: [] });
  expect(ExportSelection.safeParse(ids(0)).success).toBe(true);
  expect(ExportSelection.safeParse(ids(500)).success).toBe(true);
  expect(ExportSelection.safeParse(ids(501)).success).toBe(false);
});

const words = (text: string) => text.split(" ").sort();

test.each([
  [
    "image orientations",
    sets.orientations,
    "front back left right top bottom three-quarter-left three-quarter-right detail unlabeled side",
  ],
  ["sexes", sets.sexes, "male female other kid"],
  ["a model's sexes", sets.modelSexes, "male female other"],
  ["image origins", sets.imageOrigins, "user beautifier other"],
  ["image types", sets.imageTypes, "image/jpeg image/png image/webp"],
  ["asset roles", sets.assetRoles, "source beautifier tryon recoloring"],
  ["export formats", sets.exportFormats, "manifest zip"],
  ["export statuses", sets.exportStatuses, "processing completed failed"],
  ["task types", sets.taskTypes, "beautifier tryon"],
  ["task subtypes", sets.taskSubtypes, "clothing shoes headwear"],
  ["task statuses", sets.taskStatuses, "queued running succeeded failed"],
  ["task failure codes", sets.taskFailureCodes, "model_unsafe_content"],
  ["beautifier styles", sets.beautifierStyles, "ghost flatlay"],
  ["import modes", sets.importModes, "create upsert skip_existing"],
  ["on_image_error", sets.onImageErrors, "skip fail_row"],
  ["import statuses", sets.importStatuses, "validating processing completed completed_with_errors failed"],
  ["row statuses", sets.rowStatuses, "pending succeeded partial failed"],
  ["row actions", sets.rowActions, "created updated skipped none"],
  ["a row's image statuses", sets.imageStatuses, "attached failed"],
  [
    "image error codes",
    sets.imageErrorCodes,
    "http_error timeout too_large not_an_image blocked_host dns_failed image_not_found row_failed",
  ],
  [
    "row error codes",
    sets.rowErrorCodes,
    "reference_already_exists no_images image_failed too_many_attempts",
  ],
  [
    "event types",
    sets.eventTypes,
    "task.succeeded task.failed import.completed import.failed export.completed export.failed",
  ],
  ["webhook statuses", sets.webhookStatuses, "active paused disabled"],
  ["beautifier backgrounds", sets.beautifierBackgrounds, "white light-grey beige black floor"],
  [
    "try-on backgrounds",
    sets.tryonBackgrounds,
    "white light-grey beige black studio loft street garden beach",
  ],
  [
    "angle shots of clothing",
    sets.beautifierAngleShots.clothing,
    "front back three-quarter-left three-quarter-right detail",
  ],
  ["angle shots of shoes", sets.beautifierAngleShots.shoes, "side front back top pair"],
  ["angle shots of headwear", sets.beautifierAngleShots.headwear, "front side back"],
  [
    "angle shots of try-ons",
    sets.tryonAngleShots,
    "full-front full-back full-side half-front half-back close-up",
  ],
  [
    "scopes",
    sets.scopes,
    "products images imports exports tasks models webhooks".replaceAll(/\w+/g, "$&:read $&:write"),
  ],
  [
    "error types",
    errorTypes,
    "invalid_request not_found unauthorized forbidden payment_required conflict rate_limited internal not_implemented",
  ],
])("the values of %s", (_name, actual, expected) => {
  expect([...actual].sort()).toEqual(words(expected));
});

test.each<[number, string, string]>([
  [400, "invalid_request", "invalid_request invalid_cursor"],
  [401, "unauthorized", "missing_api_key invalid_api_key"],
  [402, "payment_required", "insufficient_credits"],
  [403, "forbidden", "insufficient_scope user_key_not_allowed url_expired host_not_allowed"],
  [
    404,
    "not_found",
    "route_not_found product_not_found image_not_found import_not_found export_not_found task_not_found model_not_found webhook_not_found delivery_not_found",
  ],
  [405, "invalid_request", "method_not_allowed"],
  [408, "invalid_request", "request_timeout"],
  [409, "conflict", "reference_already_exists request_in_progress"],
  [412, "invalid_request", "precondition_failed"],
  [413, "invalid_request", "body_too_large"],
  [414, "invalid_request", "uri_too_long"],
  [415, "invalid_request", "unsupported_media_type"],
  [416, "invalid_request", "range_not_satisfiable"],
  [422, "invalid_request", "idempotency_key_reused cannot_drop_last_image inputs_mismatch image_required"],
  [429, "rate_limited", "rate_limit_exceeded"],
  [431, "invalid_request", "headers_too_large"],
  [500, "internal", "internal_error"],
  [501, "not_implemented", "not_implemented"],
  [502, "internal", "upstream_unavailable"],
])("the codes with the status %d are of the type %s: %s", (status, type, expected) => {
  const codes = Object.entries(errorCodes).filter(([, of]) => of.status === status);
  expect(codes.map(([code]) => code).sort()).toEqual(words(expected));
  expect(codes.filter(([, of]) => of.type !== type)).toEqual([]);
});

test("each status of a code is one of the table above", () => {
  expect(new Set(Object.values(errorCodes).map(({ status }) => status)).size).toBe(19);
  expect(creditHeaders).toEqual({ needed: "X-Credits-Needed", left: "X-Credits-Left" });
});

test("a key is used for an hour less than a day, and a delivery is retried for 7 h 21 min", () => {
  expect([keyLifeMs, webhookRetryTotalMs]).toEqual([23 * hour, 7 * hour + 21 * minute]);
});

test.each([
  ["port", { min: 0, max: 65_535 }],
  ["seed", { min: 0, max: 999_999_999_999_999 }],
  ["demo", { min: 0, max: 1_000_000 }],
  ["speed", { min: 1e-9, max: 1e15 }],
  ["requestsPerMinute", { min: 1, max: 999_999_999 }],
  ["latencyMs", { min: 0, max: 600_000 }],
  ["toleranceSeconds", { min: 0, max: 999_999_999 }],
] as const)("the option %s is from %j", (name, range) => {
  expect(optionRanges[name]).toEqual(range);
});

test("an ID is a ULID", () => {
  for (const id of ["01JGZZ0000000000000000000A", "7ZZZZZZZZZZZZZZZZZZZZZZZZZ"])
    expect(id).toMatch(ulidPattern);
  for (const id of [
    "81JGZZ0000000000000000000A",
    "01JGZZ000000000000000000A",
    "01JGZZ000000000000000000IL",
    "",
  ])
    expect(id).not.toMatch(ulidPattern);
});

/** Names of the fields of an object; `?` marks an optional field. */
const fieldsOf = (object: z.ZodObject): string[] =>
  Object.entries(object.shape)
    .map(([name, field]) => ((field as z.ZodType).safeParse(undefined).success ? `${name}?` : name))
    .sort();
/** The object schema within a nullable, optional or list schema. */
// biome-ignore lint/suspicious/noExplicitAny: any schema.
const within = (schema: any): z.ZodObject =>
  schema.shape !== undefined ? schema : within(schema.unwrap?.() ?? schema.element);

describe("the fields of", () => {
  const result = within(ImportRowResult.shape.images).shape;
  test.each([
    ["Product", Product, "id name reference description sex images created_at updated_at"],
    ["Product.images", ProductImage, "id orientation origin"],
    ["Image", Image, "id mime_type url url_expires_at created_at"],
    ["ImageUpload", ImageUpload, "id mime_type created_at"],
    ["ExportRow", ExportRow, "product assets"],
    ["ExportRow.product", ExportRow.shape.product, "id reference name sex deleted_at"],
    [
      "ExportRow.assets",
      ExportAsset,
      "id role url url_expires_at mime_type width height ai_generated watermarked derived created_at task_id attributes also_features suggested_filename",
    ],
    ["ExportJob", ExportJob, "id format status url url_expires_at total_assets error created_at finished_at"],
    ["ExportJob.error", ExportJob.shape.error, "code message"],
    [
      "Task",
      Task,
      "id type subtype status product_id output_image failure_reason started_at finished_at created_at",
    ],
    ["Task.output_image", Task.shape.output_image, "id url url_expires_at"],
    ["Task.failure_reason", Task.shape.failure_reason, "code message"],
    ["Import", Import, "id status mode on_image_error counts results_url created_at started_at finished_at"],
    ["Import.counts", Import.shape.counts, "total pending succeeded partial failed"],
    ["ImportRowResult", ImportRowResult, "line reference status action product_id images error"],
    [
      "ImportRowResult.images",
      ImportRowResult.shape.images,
      "index source orientation status image_id? error?",
    ],
    ["ImportRowResult.images.error", result.error, "code message"],
    ["ImportRowResult.error", ImportRowResult.shape.error, "code message"],
    [
      "Model",
      Model,
      "id name is_public sex body_type age_bracket ethnicity hair_color eye_color preview_url preview_url_expires_at",
    ],
    ["Webhook", Webhook, "id url events status description last_delivery_at created_at"],
    [
      "Webhook, once",
      WebhookWithSecret,
      "id url events status description last_delivery_at created_at signing_secret",
    ],
    ["an event", WebhookEvent, "id type created_at data"],
  ])("%s", (_name, schema, expected) => {
    expect(fieldsOf(within(schema))).toEqual(words(expected));
  });
});

test("the contract has exactly the endpoints of the specification", () => {
  const actual = everyOperation.map(
    ({ operation: { method, path, status } }) => `${method} ${path} ${status}`,
  );
  expect(actual.sort()).toEqual(
    [
      "POST /v1/products 201",
      "GET /v1/products 200",
      "GET /v1/products/{product_id} 200",
      "PATCH /v1/products/{product_id} 200",
      "DELETE /v1/products/{product_id} 204",
      "POST /v1/products/{product_id}/images 201",
      "DELETE /v1/products/{product_id}/images/{image_id} 204",
      "POST /v1/images 201",
      "GET /v1/images/{image_id} 200",
      "POST /v1/imports 202",
      "GET /v1/imports/{import_id} 200",
      "GET /v1/imports/{import_id}/rows 200",
      "GET /v1/exports 200",
      "POST /v1/exports 202",
      "GET /v1/exports/{export_id} 200",
      "GET /v1/tasks 200",
      "POST /v1/tasks/beautifier 202",
      "POST /v1/tasks/tryon 202",
      "GET /v1/tasks/{task_id} 200",
      "GET /v1/models 200",
      "POST /v1/webhooks 201",
      "GET /v1/webhooks 200",
      "GET /v1/webhooks/{webhook_id} 200",
      "PATCH /v1/webhooks/{webhook_id} 200",
      "DELETE /v1/webhooks/{webhook_id} 204",
    ].sort(),
  );
});

test("the scope of an operation is that of its resource, to read for GET and to write for others", () => {
  const scopes = everyOperation.map(({ operation: { method, path, scope } }) => `${method} ${path} ${scope}`);
  expect(scopes).toContain("GET /v1/products/{product_id} products:read");
  expect(scopes).toContain("POST /v1/tasks/tryon tasks:write");
  for (const line of scopes)
    expect(line).toMatch(/^GET \/v1\/(\w+)\S* \1:read$|^(?:POST|PATCH|DELETE) \/v1\/(\w+)\S* \2:write$/);
});
