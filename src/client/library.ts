import { type ClientOperation, operations as contract } from "../contract/client-operations.ts";
import type { CallOptions, Entries, ListOptions, Operation, Page, Upload } from "./api/calls.ts";
import type { ExportsApi } from "./api/exports.ts";
import type { ImagesApi } from "./api/images.ts";
import type { ImportsApi } from "./api/imports.ts";
import type { ModelsApi } from "./api/models.ts";
import type { Operations } from "./api/operations.ts";
import type { ProductsApi } from "./api/products.ts";
import type { TasksApi } from "./api/tasks.ts";
import type { WebhooksApi } from "./api/webhooks.ts";
import {
  callOptions,
  checkCall,
  checkClientOptions,
  checkDownload,
  checkDownloadInto,
  checkInput,
  checkListOperation,
  checkOperation,
  checkOptions,
  checkPollOptions,
  checkRawRequest,
  checkReadOperation,
  listFields,
} from "./check-options.ts";
import { createClient as createServiceClient, type Client as ServiceClient } from "./client.ts";
import type { ClientBasics, Exchanged } from "./exchanges.ts";
import { readImage } from "./image-source.ts";
import type { ClientOptions, PollOptions } from "./options.ts";
import type { AnyOperation } from "./request.ts";
import { entriesOf, traced, tracedEntries } from "./traced.ts";

/** Every operation of the service as a value, by resource: for `exchange`, `paginate` and `poll`. */
export const operations = contract as unknown as Operations;

/** The typed client: a method for each operation of the service, by resource, and helpers. */
export interface Client extends ClientBasics {
  /** Single SKUs with their photos. */
  readonly products: ProductsApi;
  /** Photos. Upload the bytes, then use the ID. */
  readonly images: ImagesApi;
  /** Bulk jobs that create and update products. */
  readonly imports: ImportsApi;
  /** The complete catalog: live, as a delta, or frozen as a manifest or a ZIP. */
  readonly exports: ExportsApi;
  /** Image generation: beautifier and try-on tasks. */
  readonly tasks: TasksApi;
  /** The people who wear the products in try-ons. */
  readonly models: ModelsApi;
  /** Subscriptions to signed events. */
  readonly webhooks: WebhooksApi;
  /** Sends a request and resolves to the response with its headers. */
  exchange<Input, Response>(
    operation: Operation<Input, Response>,
    input: NoInfer<Input>,
    options?: CallOptions,
  ): Promise<Exchanged<Response>>;
  /** Iterates over all entries of a list, in pages of 100 unless `limit` is set; as its `listAll`. */
  paginate<Input, Entry>(
    operation: Operation<Input, Page<Entry>>,
    input?: NoInfer<Input>,
    options?: ListOptions,
  ): Entries<Entry>;
  /**
   * Repeats a read as `Retry-After` says (default: every 5 seconds) until `done`; survives outages of several
   * minutes. Rejects with a TimeoutError after `timeoutMs`.
   */
  poll<Input, Response>(
    operation: Operation<Input, Response, "GET">,
    input: NoInfer<Input>,
    options: PollOptions<Response>,
  ): Promise<Response>;
  /** Closes all connections at the end of the block of `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Creates a client; sends nothing yet. Throws a TypeError for an option that is unknown, invalid or missing,
 * and a CatalogueError for an invalid base URL or proxy variable.
 */
export function createClient(options: ClientOptions): Client {
  checkClientOptions(options);
  const retry = { unreached: options.retry?.attempts !== undefined, ...options.retry };
  const service = createServiceClient({ ...options, retry });
  const untyped = service as unknown as Untyped;
  const client: Client = {
    ...(createResources(service) as unknown as Client),
    exchange: (operation, input, options) => {
      return traced("client.exchange", client.exchange, options, async () => {
        checkOperation("client.exchange", operation, input);
        checkCall("client.exchange", operation, options);
        return untyped.exchange(operation, input, options);
      });
    },
    raw: (request, options) => {
      return traced("client.raw", client.raw, options, async () => {
        checkRawRequest(request);
        checkCall("client.raw", request, options);
        return service.raw(request, options);
      });
    },
    paginate: (operation, input, options) => {
      checkListOperation("client.paginate", operation, input);
      checkOptions("client.paginate", options, callOptions.list);
      const read = () => untyped.paginate(operation, input, options);
      return entriesOf("client.paginate", client.paginate, options, read);
    },
    poll: (operation, input, options) => {
      return traced("client.poll", client.poll, options, async () => {
        checkReadOperation("client.poll", operation, input);
        checkPollOptions(options);
        return untyped.poll(operation, input, options);
      });
    },
    download: (url, options) => {
      checkDownload(url);
      checkOptions("client.download", options, callOptions.download);
      const read = () => service.download(url, options);
      return tracedEntries("client.download", client.download, options, read);
    },
    downloadInto: (target, download) => {
      return traced("client.downloadInto", client.downloadInto, download, async () => {
        checkDownloadInto(target, download);
        return service.downloadInto(target, download);
      });
    },
    serviceNow: service.serviceNow,
    earliest: service.earliest,
    withoutKey: service.withoutKey,
    close: service.close,
    [Symbol.asyncDispose]: service.close,
  };
  return client;
}

/** The service's client for the operations of the package, whose types differ from the contract's. */
interface Untyped {
  exchange(...args: unknown[]): Promise<Exchanged<never>>;
  paginate(...args: unknown[]): AsyncIterable<never>;
  poll(...args: unknown[]): Promise<never>;
}

/** A method for each operation, and one more for each list, which reads all its pages. */
function createResources(service: ServiceClient): Record<string, Record<string, unknown>> {
  const resources: Record<string, Record<string, unknown>> = {};
  for (const [resource, verbs] of Object.entries(contract)) {
    const methods: Record<string, unknown> = {};
    resources[resource] = methods;
    for (const [verb, definition] of Object.entries(verbs)) {
      const operation = definition as unknown as ClientOperation<AnyOperation>;
      const name = `${resource}.${verb}`;
      const known = listFields(operation);
      const isUpload = operation.body.includes("multipart/form-data");
      const send = (input: unknown, options?: CallOptions) => {
        return traced(name, send, options, async () => {
          checkCall(name, operation, options);
          if (!isUpload) checkInput(name, input, known);
          const sent = isUpload ? { file: await readImage(input as Upload, options?.signal) } : (input ?? {});
          return (await service.exchange(operation, sent as never, options)).body;
        });
      };
      methods[verb] = send;
      if (!operation.query.includes("cursor")) continue;
      const all = (input?: unknown, options?: ListOptions) => {
        checkOptions(`${name}All`, options, callOptions.list);
        checkInput(`${name}All`, input, known);
        const read = () => service.paginate(operation, input as never, options);
        return entriesOf(`${name}All`, all, options, read);
      };
      methods[`${verb}All`] = all;
    }
  }
  return resources;
}

/**
 * A field of a response that this version does not know: the service may add fields (Versioning 2), and
 * responses keep them. Undefined if the response does not have it.
 */
export const unknownField = (resource: object, name: string): unknown =>
  Object.hasOwn(resource, name) ? (resource as Record<string, unknown>)[name] : undefined;
