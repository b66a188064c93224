// The code interface of the package: the typed client, the webhook check, and the errors of both.
export { ApiError, type Problem } from "./client/api-error.ts";
export type { Input, Item, Reply } from "./client/call-types.ts";
export {
  type CallOptions,
  type Client,
  type ClientOptions,
  createClient,
  type Exchanged,
} from "./client/client.ts";
export type { PollOptions } from "./client/poll.ts";
export {
  type DeliveredEvent,
  SignatureError,
  verifyWebhook,
  type WebhookDelivery,
} from "./client/verify-webhook.ts";
export { type Operations, operations } from "./contract/operations.ts";
export { CatError } from "./errors.ts";
export type { DownloadOptions } from "./http/download.ts";
export { BadAnswerError, NetworkError, SignedUrlError, TimeoutError } from "./http/errors.ts";
export type { ExchangeLog } from "./http/exchange-log.ts";
export type { Wait, WaitReason } from "./http/retry.ts";
