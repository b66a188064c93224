// Made from the contract by `npm run api-types`; a test compares it with the contract.
import type { Operation, Page } from "./calls.ts";
import type * as Exports from "./exports.ts";
import type * as Images from "./images.ts";
import type * as Imports from "./imports.ts";
import type * as Models from "./models.ts";
import type * as Products from "./products.ts";
import type * as Tasks from "./tasks.ts";
import type * as Webhooks from "./webhooks.ts";

/** Every operation of the service as a value, by resource: for `exchange`, `paginate` and `poll` of the client. */
export interface Operations {
  /** Single SKUs with their photos. */
  readonly products: {
    /** Create a product: `POST /v1/products`. */
    readonly create: Operation<Products.ProductsCreateInput, Products.Product, "POST">;
    /** List products; `q` searches names and references: `GET /v1/products`. */
    readonly list: Operation<Products.ProductsListInput, Page<Products.Product>, "GET">;
    /** Get a product: `GET /v1/products/{product_id}`. */
    readonly get: Operation<Products.ProductsGetInput, Products.Product, "GET">;
    /** Change fields of a product: `PATCH /v1/products/{product_id}`. */
    readonly update: Operation<Products.ProductsUpdateInput, Products.Product, "PATCH">;
    /** Delete a product: `DELETE /v1/products/{product_id}`. */
    readonly delete: Operation<Products.ProductsDeleteInput, null, "DELETE">;
    /** Attach uploaded images to a product: `POST /v1/products/{product_id}/images`. */
    readonly attach: Operation<Products.ProductsAttachInput, Products.ProductImage[], "POST">;
    /** Remove an image from a product: `DELETE /v1/products/{product_id}/images/{image_id}`. */
    readonly detach: Operation<Products.ProductsDetachInput, null, "DELETE">;
  };
  /** Photos. Upload the bytes, then use the ID. */
  readonly images: {
    /** Upload an image: `POST /v1/images`. */
    readonly upload: Operation<Images.ImagesUploadInput, Images.ImageUpload, "POST">;
    /** Get an image with a fresh signed URL: `GET /v1/images/{image_id}`. */
    readonly get: Operation<Images.ImagesGetInput, Images.Image, "GET">;
  };
  /** Up to 2,000 products per request, validated together and then imported in the background. */
  readonly imports: {
    /** Submit 1 to 2,000 rows for import: `POST /v1/imports`. */
    readonly create: Operation<Imports.ImportsCreateInput, Imports.Import, "POST">;
    /** Get the status of an import: `GET /v1/imports/{import_id}`. */
    readonly get: Operation<Imports.ImportsGetInput, Imports.Import, "GET">;
    /** List the row results of an import in input order: `GET /v1/imports/{import_id}/rows`. */
    readonly rows: Operation<Imports.ImportsRowsInput, Page<Imports.ImportRowResult>, "GET">;
  };
  /** The complete catalog: live, as a delta, or frozen as a manifest or a ZIP. */
  readonly exports: {
    /** Read the catalog: one row per product with all its assets: `GET /v1/exports`. */
    readonly list: Operation<Exports.ExportsListInput, Page<Exports.ExportRow>, "GET">;
    /** Export a selection as a manifest or a ZIP: `POST /v1/exports`. */
    readonly create: Operation<Exports.ExportsCreateInput, Exports.ExportJob, "POST">;
    /** Get the status of an export job: `GET /v1/exports/{export_id}`. */
    readonly get: Operation<Exports.ExportsGetInput, Exports.ExportJob, "GET">;
  };
  /** Image generation: beautifier and try-on tasks. */
  readonly tasks: {
    /** List tasks, newest first: `GET /v1/tasks`. */
    readonly list: Operation<Tasks.TasksListInput, Page<Tasks.Task>, "GET">;
    /** Render a product alone on a background: `POST /v1/tasks/beautifier`. */
    readonly beautify: Operation<Tasks.TasksBeautifyInput, Tasks.Task, "POST">;
    /** Render products on models: `POST /v1/tasks/tryon`. */
    readonly tryon: Operation<Tasks.TasksTryonInput, Tasks.TryonTasks, "POST">;
    /** Get a task: `GET /v1/tasks/{task_id}`. */
    readonly get: Operation<Tasks.TasksGetInput, Tasks.Task, "GET">;
  };
  /** The people who wear the products in try-ons. */
  readonly models: {
    /** List the models for try-ons: `GET /v1/models`. */
    readonly list: Operation<Models.ModelsListInput, Page<Models.Model>, "GET">;
  };
  /** Subscriptions to signed events. */
  readonly webhooks: {
    /** Create a webhook; its secret is shown only once: `POST /v1/webhooks`. */
    readonly create: Operation<Webhooks.WebhooksCreateInput, Webhooks.WebhookWithSecret, "POST">;
    /** List webhooks: `GET /v1/webhooks`. */
    readonly list: Operation<Webhooks.WebhooksListInput, Page<Webhooks.Webhook>, "GET">;
    /** Get a webhook: `GET /v1/webhooks/{webhook_id}`. */
    readonly get: Operation<Webhooks.WebhooksGetInput, Webhooks.Webhook, "GET">;
    /** Change a webhook or rotate its secret: `PATCH /v1/webhooks/{webhook_id}`. */
    readonly update: Operation<Webhooks.WebhooksUpdateInput, Webhooks.WebhookMaybeWithSecret, "PATCH">;
    /** Delete a webhook: `DELETE /v1/webhooks/{webhook_id}`. */
    readonly delete: Operation<Webhooks.WebhooksDeleteInput, null, "DELETE">;
  };
}
