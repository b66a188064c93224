import { limits } from "../limits.ts";

const reference = `${limits.referenceLength.min} to ${limits.referenceLength.max} characters; surrounding whitespace is trimmed first.`;
const productReference = "Surrounding whitespace is trimmed.";
const megabytes = limits.imageBytes / 1024 / 1024;
const lifetime = `valid for ${limits.signedUrlMs / 60_000} minutes`;
const importRows = limits.importRows.max.toLocaleString("en");

/** Descriptions of resources and fields, keyed by `Component` or `Component.field`. */
export const schemaNotes: Readonly<Record<string, string>> = {
  Product: "One SKU of the catalog.",
  "Product.reference": "Your product code, unique among products created through the API.",
  "Product.created_at": "For products created before timestamps were recorded, the date of the first image.",
  "Product.updated_at":
    "Changes with name, reference, description and sex only, not when images are attached or removed.",
  ProductImage: "A photo of a product.",
  ProductToCreate: "A product with its photos. Upload the photos first.",
  "ProductToCreate.reference": productReference,
  "ProductToCreate.images": "IDs from POST /v1/images. Several products can share an image.",
  ProductPatch: "A merge patch: absent fields keep their value; null clears description or sex.",
  "ProductPatch.reference": productReference,
  Image: "An uploaded image.",
  "Image.mime_type": "Determined from the bytes, not from a declared content type.",
  "Image.url": `Signed URL of the original bytes, ${lifetime}. Every read returns a new one.`,
  ImageUpload: "The response to an upload. The ID can be used immediately.",
  ImageForm: "A form with one file.",
  "ImageForm.file": `The bytes of the image: JPEG, PNG or WebP, at most ${megabytes} MB.`,
  Import: "A bulk job.",
  "Import.counts.total": "Null while validating; never an estimate.",
  "Import.counts.partial": "Rows imported without one or more of their images.",
  "Import.results_url":
    "Set once the job has finished: signed URL of a JSONL file with one ImportRowResult per row, in input order. Every read returns a new one.",
  ImportSubmission: "An import as JSON.",
  "ImportSubmission.mode":
    "How to handle a row whose reference already exists; upsert appends the row's images.",
  "ImportSubmission.on_image_error":
    "How to handle a row with a failed image: skip imports the row with its other images, fail_row fails the row.",
  ImportRow: "One row of an import: a product.",
  "ImportRow.reference": `${reference} Unique within the request.`,
  "ImportRow.images":
    "Each has either a url (https, public host, default port, no credentials) or an image_id. The default orientation is unlabeled.",
  ImportRowResult: "The result of one row.",
  "ImportRowResult.line": "Line in the request body, from 1.",
  "ImportRowResult.action": "Null while the row is pending.",
  "ImportRowResult.product_id": "The product that the row created, updated or matched.",
  "ImportRowResult.images.index": "Position among the images of the row, from 0.",
  "ImportRowResult.images.source": "The url or image_id that was sent.",
  "ImportRowResult.images.image_id": "Present if the image was attached.",
  "ImportRowResult.images.error": "Why the image was not attached.",
  "ImportRowResult.error": "Why the row failed.",
  ImportRefusal: "Every problem of the request at once; nothing was created.",
  ExportRow:
    "A product with all its assets. Each asset is listed once, under the product that it was generated for.",
  "ExportRow.product.deleted_at":
    "Set in delta mode if the product was deleted since then; assets is then empty.",
  ExportAsset: "One image of a product: a photo that you uploaded or a generated image.",
  "ExportAsset.id": "The permanent ID of the image.",
  "ExportAsset.url": `Signed URL of the active version, ${lifetime}.`,
  "ExportAsset.ai_generated": "False only for photos that you uploaded.",
  "ExportAsset.watermarked": "Can change for the same ID when the plan changes.",
  "ExportAsset.derived": "True for an edited version of a generated image.",
  "ExportAsset.created_at": "Creation time of the bytes.",
  "ExportAsset.task_id": "Null for uploaded photos and for images generated in the dashboard.",
  "ExportAsset.attributes":
    "A flat object with orientation, angle_shot, background, model_id and edit_number. Ignore unknown keys.",
  "ExportAsset.also_features": "IDs of the other products in the image: the styling products of a try-on.",
  "ExportAsset.suggested_filename": "A filename without folders.",
  ExportJob: "A frozen selection: a JSONL manifest of ExportRow, or a ZIP of image files.",
  "ExportJob.url": `Signed URL of the artifact once the job has completed, ${lifetime}. Every read returns a new one.`,
  "ExportJob.total_assets": "Assets in the selection when the job was created.",
  ExportSelection: `The products to export. Without product_ids: all products visible to the API, up to ${limits.exportProducts}.`,
  Task: "The generation of one image.",
  "Task.subtype": "Null for a try-on.",
  "Task.failure_reason": "Set when the status is failed.",
  BeautifierRequest: "A product alone on a background.",
  "BeautifierRequest.inputs.angle_shot": "The allowed values depend on the subtype.",
  "BeautifierRequest.inputs.style": "Only with the subtype clothing.",
  TryonRequest: `${limits.tryonInputs.min} to ${limits.tryonInputs.max} try-ons. Inputs with the same model, product and styling products look consistent.`,
  TryonInput: "A product on a model.",
  "TryonInput.styling_product_ids": `Up to ${limits.stylings.max} other products; the main product is not allowed.`,
  "TryonInput.look_at_camera": "False makes the model look away.",
  TryonTasks: "The tasks, one per input.",
  TryonRefusal: "Every invalid input at once; nothing was queued. input_index counts from 0.",
  Model: "A person who wears the product in a try-on.",
  "Model.id": "Opaque; pass it as model_id.",
  "Model.is_public": "True for the curated models of the service, false for models of the organization.",
  Webhook: "A subscription to events.",
  WebhookToCreate: "The URL is checked once, at creation, and cannot be changed later.",
  "WebhookToCreate.url": "A public https URL on the default port, without credentials.",
  WebhookWithSecret: "A webhook with its signing_secret, which is shown only once.",
  WebhookMaybeWithSecret:
    "A webhook. After a rotation it includes the new signing_secret, which is shown only once.",
  WebhookPatch: "The fields to change.",
  "WebhookPatch.rotate_secret": "True creates a new secret; the old one stops working immediately.",
  WebhookEvent: "The payload of a delivery: the ID and status of the resource.",
  "WebhookEvent.id": "Identical in every delivery attempt; use it to deduplicate.",
  "WebhookEvent.data": "One key: task, import or export.",
  Error: "The body of every error response.",
  "Error.error.type": "Switch on it for behavior.",
  "Error.error.code": "Stable; switch on it for messages.",
  "Error.error.message": "For people; may change.",
  "Error.error.param": "The request field with the problem.",
};

/** Descriptions of path and query parameters. */
export const parameterNotes: Readonly<Record<string, string>> = {
  product_id: "The ID of a product.",
  image_id: "The ID of an image.",
  import_id: "The ID of an import.",
  export_id: "The ID of an export job.",
  task_id: "The ID of a task.",
  webhook_id: "The ID of a webhook.",
  limit: "Items per page.",
  cursor: "The next_cursor of the previous page, unchanged.",
  q: "Free-text search over name and reference.",
  mode: "How to handle a row whose reference already exists. With a JSON body, set it in the body instead.",
  on_image_error: "How to handle a row with a failed image. With a JSON body, set it in the body instead.",
  status: "Filter by status.",
  type: "Filter by type.",
  subtype: "Filter by subtype; returns beautifier tasks only.",
  is_public: "true: curated models only; false: models of the organization only.",
  role: "Asset roles, separated by commas. Products without matching assets are still listed.",
  since: "Delta mode: only products changed or deleted at or after this time.",
};

/** Descriptions of the groups of operations. */
export const tagNotes: Readonly<Record<string, string>> = {
  products: "Single SKUs with their photos.",
  images: "Photos. Upload the bytes, then use the ID.",
  imports: `Up to ${importRows} products per request, validated together and then imported in the background.`,
  exports: "The complete catalog: live, as a delta, or frozen as a manifest or a ZIP.",
  tasks: "Image generation: beautifier and try-on tasks.",
  models: "The people who wear the products in try-ons.",
  webhooks: "Subscriptions to signed events.",
};
