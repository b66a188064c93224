// Made from the contract by `npm run api-types`; a test compares it with the contract.
import type { Operation, Page } from "./calls.ts";
import type {
  ExportJob,
  ExportRow,
  ExportsCreateInput,
  ExportsGetInput,
  ExportsListInput,
} from "./exports.ts";
import type { Image, ImagesGetInput, ImagesUploadInput, ImageUpload } from "./images.ts";
import type {
  Import,
  ImportRowResult,
  ImportsCreateInput,
  ImportsGetInput,
  ImportsRowsInput,
} from "./imports.ts";
import type { Model, ModelsListInput } from "./models.ts";
import type {
  Product,
  ProductImage,
  ProductsAttachInput,
  ProductsCreateInput,
  ProductsDeleteInput,
  ProductsDetachInput,
  ProductsGetInput,
  ProductsListInput,
  ProductsUpdateInput,
} from "./products.ts";
import type {
  Task,
  TasksBeautifyInput,
  TasksGetInput,
  TasksListInput,
  TasksTryonInput,
  TryonTasks,
} from "./tasks.ts";
import type {
  Webhook,
  WebhookMaybeWithSecret,
  WebhooksCreateInput,
  WebhooksDeleteInput,
  WebhooksGetInput,
  WebhooksListInput,
  WebhooksUpdateInput,
  WebhookWithSecret,
} from "./webhooks.ts";

/** Every operation of the service as a value, by resource: for `exchange`, `paginate` and `poll` of the client. */
export interface Operations {
  /** Single SKUs with their photos. */
  readonly products: {
    /** Create a product: `POST /v1/products`. */
    readonly create: Operation<ProductsCreateInput, Product, "POST">;
    /** List products; `q` searches names and references: `GET /v1/products`. */
    readonly list: Operation<ProductsListInput, Page<Product>, "GET">;
    /** Get a product: `GET /v1/products/{product_id}`. */
    readonly get: Operation<ProductsGetInput, Product, "GET">;
    /** Change fields of a product: `PATCH /v1/products/{product_id}`. */
    readonly update: Operation<ProductsUpdateInput, Product, "PATCH">;
    /** Delete a product: `DELETE /v1/products/{product_id}`. */
    readonly delete: Operation<ProductsDeleteInput, null, "DELETE">;
    /** Attach uploaded images to a product: `POST /v1/products/{product_id}/images`. */
    readonly attach: Operation<ProductsAttachInput, ProductImage[], "POST">;
    /** Remove an image from a product: `DELETE /v1/products/{product_id}/images/{image_id}`. */
    readonly detach: Operation<ProductsDetachInput, null, "DELETE">;
  };
  /** Photos. Upload the bytes, then use the ID. */
  readonly images: {
    /** Upload an image: `POST /v1/images`. */
    readonly upload: Operation<ImagesUploadInput, ImageUpload, "POST">;
    /** Get an image with a fresh signed URL: `GET /v1/images/{image_id}`. */
    readonly get: Operation<ImagesGetInput, Image, "GET">;
  };
  /** Up to 2,000 products per request, validated together and then imported in the background. */
  readonly imports: {
    /** Submit 1 to 2,000 rows for import: `POST /v1/imports`. */
    readonly create: Operation<ImportsCreateInput, Import, "POST">;
    /** Get the status of an import: `GET /v1/imports/{import_id}`. */
    readonly get: Operation<ImportsGetInput, Import, "GET">;
    /** List the row results of an import in input order: `GET /v1/imports/{import_id}/rows`. */
    readonly rows: Operation<ImportsRowsInput, Page<ImportRowResult>, "GET">;
  };
  /** The complete catalog: live, as a delta, or frozen as a manifest or a ZIP. */
  readonly exports: {
    /** Read the catalog: one row per product with all its assets: `GET /v1/exports`. */
    readonly list: Operation<ExportsListInput, Page<ExportRow>, "GET">;
    /** Export a selection as a manifest or a ZIP: `POST /v1/exports`. */
    readonly create: Operation<ExportsCreateInput, ExportJob, "POST">;
    /** Get the status of an export job: `GET /v1/exports/{export_id}`. */
    readonly get: Operation<ExportsGetInput, ExportJob, "GET">;
  };
  /** Image generation: beautifier and try-on tasks. */
  readonly tasks: {
    /** List tasks, newest first: `GET /v1/tasks`. */
    readonly list: Operation<TasksListInput, Page<Task>, "GET">;
    /** Render a product alone on a background: `POST /v1/tasks/beautifier`. */
    readonly beautify: Operation<TasksBeautifyInput, Task, "POST">;
    /** Render products on models: `POST /v1/tasks/tryon`. */
    readonly tryon: Operation<TasksTryonInput, TryonTasks, "POST">;
    /** Get a task: `GET /v1/tasks/{task_id}`. */
    readonly get: Operation<TasksGetInput, Task, "GET">;
  };
  /** The people who wear the products in try-ons. */
  readonly models: {
    /** List the models for try-ons: `GET /v1/models`. */
    readonly list: Operation<ModelsListInput, Page<Model>, "GET">;
  };
  /** Subscriptions to signed events. */
  readonly webhooks: {
    /** Create a webhook; its secret is shown only once: `POST /v1/webhooks`. */
    readonly create: Operation<WebhooksCreateInput, WebhookWithSecret, "POST">;
    /** List webhooks: `GET /v1/webhooks`. */
    readonly list: Operation<WebhooksListInput, Page<Webhook>, "GET">;
    /** Get a webhook: `GET /v1/webhooks/{webhook_id}`. */
    readonly get: Operation<WebhooksGetInput, Webhook, "GET">;
    /** Change a webhook or rotate its secret: `PATCH /v1/webhooks/{webhook_id}`. */
    readonly update: Operation<WebhooksUpdateInput, WebhookMaybeWithSecret, "PATCH">;
    /** Delete a webhook: `DELETE /v1/webhooks/{webhook_id}`. */
    readonly delete: Operation<WebhooksDeleteInput, null, "DELETE">;
  };
}
