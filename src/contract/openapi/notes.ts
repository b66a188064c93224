import { limits } from "../limits.ts";

const reference = `White space around it is trimmed; then ${limits.referenceLength.min} to ${limits.referenceLength.max} characters.`;
const megabytes = limits.imageBytes / 1024 / 1024;
const lifetime = `it lives ${limits.signedUrlMs / 60_000} minutes`;
const importRows = limits.importRows.max.toLocaleString("en");

/** What the document says about resources and fields beyond their shape; `Component` or `Component.field`. */
export const schemaNotes: Readonly<Record<string, string>> = {
  Product: "One SKU of the catalogue.",
  "Product.reference": "The caller's product code, unique among the products created through the API.",
  "Product.created_at": "For products older than timestamp tracking, the date of the first image.",
  "Product.updated_at":
    "Bumped by name, reference, description and sex only; never by attaching or removing images.",
  ProductImage: "A photo on a product.",
  ProductToCreate: "A product with its photos, which are uploaded first.",
  "ProductToCreate.reference": reference,
  "ProductToCreate.images": "Ids from POST /v1/images; one image may be on several products.",
  ProductPatch: "A merge patch: a field left out stays as it is, null clears description or sex.",
  "ProductPatch.reference": reference,
  Image: "An uploaded image.",
  "Image.mime_type": "Typed from the bytes, never from a declared content type.",
  "Image.url": `Signed URL of the original bytes; ${lifetime} and is signed anew on every read.`,
  ImageUpload: "The answer to an upload: the id may be used at once.",
  ImageForm: "A form with one file.",
  "ImageForm.file": `The image's bytes: JPEG, PNG or WebP, at most ${megabytes} MB.`,
  Import: "A bulk job.",
  "Import.counts.total": "Null while validating, never an estimate.",
  "Import.counts.partial":
    "Rows whose product was made though one or more of its images could not be attached.",
  "Import.results_url":
    "Once the job has ended: signed URL of a JSONL file of ImportRowResult, one a row, in input order. Signed anew on every read.",
  ImportSubmission: "The JSON form of a submission.",
  "ImportSubmission.mode": "What happens to a reference that exists; an upsert appends the row's images.",
  "ImportSubmission.on_image_error":
    "skip keeps a row with the images that worked; fail_row makes nothing of a row with an image that failed.",
  ImportRow: "One row of an import: a product.",
  "ImportRow.reference": `${reference} Unique within the submission.`,
  "ImportRow.images":
    "Each has either a url (https, public host, default port, no credentials) or an image_id. Without an orientation it stays unlabeled.",
  ImportRowResult: "What became of one row.",
  "ImportRowResult.line": "Line of the submitted body, from 1.",
  "ImportRowResult.action": "Null while the row is pending.",
  "ImportRowResult.product_id": "The product that the row created, updated or matched.",
  "ImportRowResult.images.index": "Place among the row's images, from 0.",
  "ImportRowResult.images.source": "The url or image_id that was submitted.",
  "ImportRowResult.images.image_id": "There when the image was attached.",
  "ImportRowResult.images.error": "Why the image was not attached.",
  "ImportRowResult.error": "Why the row failed as a whole.",
  ImportRefusal: "Every problem of a submission at once; nothing was created.",
  ExportRow:
    "A product with every asset held for it. Each asset stands once, under the product it was made for.",
  "ExportRow.product.deleted_at":
    "Set in delta mode for a product deleted since then; its assets are then empty.",
  ExportAsset: "One image held for a product: the caller's own photo or a generation.",
  "ExportAsset.id": "An image id, permanent.",
  "ExportAsset.url": `Signed URL of the active version; ${lifetime}.`,
  "ExportAsset.ai_generated": "False only for the caller's own photos.",
  "ExportAsset.watermarked": "May change for the same id when the plan changes.",
  "ExportAsset.derived": "An edit of a generation rather than the generation itself.",
  "ExportAsset.created_at": "When the bytes were made.",
  "ExportAsset.task_id": "Null for own photos and for generations made in the dashboard.",
  "ExportAsset.attributes":
    "Flat and open: orientation, angle_shot, background, model_id, edit_number. Ignore keys you do not know.",
  "ExportAsset.also_features": "Ids of other products that are seen in it: the stylings of a try-on.",
  "ExportAsset.suggested_filename": "A filename, never a path.",
  ExportJob: "A frozen selection: a JSONL manifest of ExportRow, or a ZIP of image files.",
  "ExportJob.url": `Signed URL of the artifact once completed; ${lifetime} and is signed anew on every read.`,
  "ExportJob.total_assets": "Assets in the selection when the job was created.",
  ExportSelection: `What to freeze; without product_ids, the whole catalogue that the API sees, up to ${limits.exportProducts} products.`,
  Task: "One image generation.",
  "Task.subtype": "Null for a try-on.",
  "Task.failure_reason": "Set when the status is failed.",
  BeautifierRequest: "A product alone on a background.",
  "BeautifierRequest.inputs.angle_shot": "Which of them are allowed depends on the subtype.",
  "BeautifierRequest.inputs.style": "Only with the subtype clothing.",
  TryonRequest: `${limits.tryonInputs.min} to ${limits.tryonInputs.max} try-ons. Those of one model, product and styling list look consistent.`,
  TryonInput: "A product on a model.",
  "TryonInput.styling_product_ids": `Up to ${limits.stylings.max} other products, not the main one.`,
  "TryonInput.look_at_camera": "False makes the model look away.",
  TryonTasks: "The tasks, one for each input.",
  TryonRefusal: "Every bad input at once; nothing was queued. input_index counts from 0.",
  Model: "A person a try-on is rendered on.",
  "Model.id": "Opaque; give it back as model_id.",
  "Model.is_public": "True for the service's curated models, false for the organization's own.",
  Webhook: "A subscription to events.",
  WebhookToCreate: "The URL is verified once, now, and cannot be changed later.",
  "WebhookToCreate.url": "A public https URL on the default port, without credentials.",
  WebhookWithSecret: "A webhook with its signing_secret, which is shown this once.",
  WebhookMaybeWithSecret: "A webhook; with a new signing_secret, shown this once, when it was rotated.",
  WebhookPatch: "The fields to change.",
  "WebhookPatch.rotate_secret": "True makes a new secret; the previous one stops working at once.",
  WebhookEvent: "What is delivered: the resource's id and status and nothing more.",
  "WebhookEvent.id": "The same in every attempt: deduplicate on it.",
  "WebhookEvent.data": "One key: task, import or export.",
  Error: "The body of every refusal.",
  "Error.error.type": "Switch on it for behaviour.",
  "Error.error.code": "Stable; switch on it for messages.",
  "Error.error.message": "For people; not stable.",
  "Error.error.param": "The field of the request that it is about.",
};

/** What each parameter of a path or a query is. */
export const parameterNotes: Readonly<Record<string, string>> = {
  product_id: "A product's id.",
  image_id: "An image's id.",
  import_id: "An import's id.",
  export_id: "An export job's id.",
  task_id: "A task's id.",
  webhook_id: "A webhook's id.",
  limit: "Entries a page.",
  cursor: "The next_cursor of the page before, as it was given.",
  q: "Free-text search over name and reference.",
  mode: "What happens to a reference that exists. With a JSON body it stands in the body instead.",
  on_image_error:
    "What happens to a row with an image that fails. With a JSON body it stands in the body instead.",
  status: "Only those of this status.",
  type: "Only those of this type.",
  subtype: "Only those of this subtype, and so only beautifiers.",
  is_public: "true for curated models only, false for the organization's own only.",
  role: "Asset roles, separated by commas. Products are listed even when none of their assets match.",
  since: "Delta: only products changed at or after this instant, deleted ones among them.",
};

/** What each group of operations is about. */
export const tagNotes: Readonly<Record<string, string>> = {
  products: "Single SKUs with their photos.",
  images: "Photos, uploaded as bytes and known by their id afterwards.",
  imports: `Up to ${importRows} products a call, checked as a whole and then made in the background.`,
  exports: "The catalogue read back: live, as a delta, or frozen as a manifest or a ZIP.",
  tasks: "Image generation: beautifiers and try-ons.",
  models: "The people a try-on is rendered on.",
  webhooks: "Subscriptions to signed events.",
};
