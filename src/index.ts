// The code interface of the package: the typed client, the webhook check, and the errors of both.
export type {
  CallOptions,
  Entries,
  ImageSource,
  Input,
  Item,
  JsonBody,
  ListOptions,
  NoInput,
  Operation,
  OptionalJsonBody,
  OwnHeaders,
  Page,
  Reply,
  RequestLimits,
  Upload,
} from "./client/api/calls.ts";
export type * from "./client/api/errors.ts";
export type * from "./client/api/exports.ts";
export type * from "./client/api/images.ts";
export type * from "./client/api/imports.ts";
export type * from "./client/api/models.ts";
export type * from "./client/api/operations.ts";
export type * from "./client/api/products.ts";
export type * from "./client/api/tasks.ts";
export type * from "./client/api/webhooks.ts";
export { ApiError, type Credits, type ErrorBody, type Problem } from "./client/api-error.ts";
export type { Exchanged, RawRequest, RawResponse, ResponseHeaders } from "./client/exchanges.ts";
export { type Client, createClient, operations, unknownField } from "./client/library.ts";
export type { ClientOptions, PollOptions, RequestDispatcher } from "./client/options.ts";
export { verifyWebhook } from "./client/verify-webhook.ts";
export { type DeliveredEvent, SignatureError, type WebhookDelivery } from "./client/webhook-delivery.ts";
export type { Clock, Clocks } from "./clock.ts";
export type { EventType, Orientation } from "./contract/value-sets.ts";
export { CatalogueError, type KnownErrorType } from "./errors.ts";
export type {
  Download,
  DownloadInto,
  DownloadLimits,
  DownloadOptions,
  DownloadTarget,
  FileVersion,
  ResumableDownload,
} from "./http/download-options.ts";
export {
  BadResponseError,
  NetworkError,
  type NetworkErrorCode,
  SignedUrlError,
  TimeoutError,
} from "./http/errors.ts";
export type { ExchangeLog } from "./http/exchange-log.ts";
export type { FetchFunction, FetchRequest, FetchResponse } from "./http/fetch-function.ts";
export type { Backoff, OnWait, RetryPolicy, Wait, WaitReason } from "./http/retry.ts";
export type { TimeLimits } from "./http/time-limits.ts";
