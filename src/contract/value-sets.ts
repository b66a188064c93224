/** The value sets of the specification, and those that we chose where it is silent. */

export const sexes = ["male", "female", "other", "kid"] as const;
export const modelSexes = ["male", "female", "other"] as const;
export const orientations = [
  "front",
  "back",
  "left",
  "right",
  "top",
  "bottom",
  "three-quarter-left",
  "three-quarter-right",
  "detail",
  "unlabeled",
  "side",
] as const;
/** The side of a product that a photo shows. */
export type Orientation = (typeof orientations)[number];
export const imageOrigins = ["user", "beautifier", "other"] as const;
export const imageTypes = ["image/jpeg", "image/png", "image/webp"] as const;

export const importModes = ["upsert", "create", "skip_existing"] as const;
export type ImportMode = (typeof importModes)[number];
export const onImageErrors = ["skip", "fail_row"] as const;
export type OnImageError = (typeof onImageErrors)[number];
export const importStatuses = [
  "validating",
  "processing",
  "completed",
  "completed_with_errors",
  "failed",
] as const;
export const rowStatuses = ["pending", "succeeded", "partial", "failed"] as const;
export const rowActions = ["created", "updated", "skipped", "none"] as const;
export const imageStatuses = ["attached", "failed"] as const;
/** Why an image of an import row was not attached. An open set (ImportRowResult). */
export const imageErrorCodes = [
  "http_error",
  "timeout",
  "too_large",
  "not_an_image",
  "blocked_host",
  "dns_failed",
  "image_not_found",
  "row_failed",
] as const;
/** Why an import row failed. An open set (ImportRowResult). */
export const rowErrorCodes = [
  "reference_already_exists",
  "no_images",
  "image_failed",
  "too_many_attempts",
] as const;

/** Roles of an export asset. An open set: unknown values are opaque (ExportRow). */
export const assetRoles = ["source", "beautifier", "tryon", "recoloring"] as const;
export type AssetRole = (typeof assetRoles)[number];
export const exportFormats = ["manifest", "zip"] as const;
export const exportStatuses = ["processing", "completed", "failed"] as const;
/** Whether an export job has reached a terminal state (States, Export job). */
export const isJobEnded = ({ status }: { readonly status: string }): boolean => status !== "processing";

export const taskTypes = ["beautifier", "tryon"] as const;
export const taskSubtypes = ["clothing", "shoes", "headwear"] as const;
export const taskStatuses = ["queued", "running", "succeeded", "failed"] as const;
/** Why a task failed: the only documented code. An open set (Task). */
export const taskFailureCodes = ["model_unsafe_content"] as const;
export const beautifierStyles = ["ghost", "flatlay"] as const;
// The specification shows no catalogue of backgrounds and angle shots: the following lists are assumed.
export const hexBackground = /^#[0-9a-fA-F]{6}$/;
export const exampleColor = "#f4f1ea";
const plainBackgrounds = ["white", "light-grey", "beige", "black"] as const;
export const beautifierBackgrounds = [...plainBackgrounds, "floor"] as const;
export const tryonBackgrounds = [...plainBackgrounds, "studio", "loft", "street", "garden", "beach"] as const;
export const beautifierAngleShots = {
  clothing: ["front", "back", "three-quarter-left", "three-quarter-right", "detail"],
  shoes: ["side", "front", "back", "top", "pair"],
  headwear: ["front", "side", "back"],
} as const;
export const tryonAngleShots = [
  "full-front",
  "full-back",
  "full-side",
  "half-front",
  "half-back",
  "close-up",
] as const;
export const customAngleShotPrefix = "custom-";

export const eventTypes = [
  "task.succeeded",
  "task.failed",
  "import.completed",
  "import.failed",
  "export.completed",
  "export.failed",
] as const;
/** The type of an event that a webhook can receive (Events). */
export type EventType = (typeof eventTypes)[number];
export const webhookStatuses = ["active", "paused", "disabled"] as const;

const scopeResources = ["products", "images", "imports", "exports", "tasks", "models", "webhooks"] as const;
/** `products:read` (GET), `products:write` (other methods), and so on for each resource. */
export type Scope = `${(typeof scopeResources)[number]}:${"read" | "write"}`;
/** Every scope, in the order of the resources. */
export const scopes: readonly Scope[] = scopeResources.flatMap((resource): Scope[] => [
  `${resource}:read`,
  `${resource}:write`,
]);
