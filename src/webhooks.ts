// The check of deliveries without Node, for workers at the edge: `@catalogue-imaging/catalogue/webhooks`.
export { verifyWithWebCrypto as verifyWebhook } from "./client/verify-with-web-crypto.ts";
export { type DeliveredEvent, SignatureError, type WebhookDelivery } from "./client/webhook-delivery.ts";
export type { EventType } from "./contract/value-sets.ts";
export { CatalogueError, type KnownErrorType } from "./errors.ts";
