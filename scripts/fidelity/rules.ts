/**
 * The numbered rules of the specification, named as comments in `src/` cite them, with the clauses that restate
 * them.
 */
export const rules: Readonly<Record<string, readonly string[]>> = {
  "Cross-cutting rule 1": [
    "Idempotency-Key has up to 255 characters.",
    "GET is never tracked.",
    "Keys belong to the organization.",
    "Keys expire after 24 hours.",
  ],
  "Cross-cutting rule 2": ["Same key and same request: the stored response, with Idempotent-Replayed: true."],
  "Cross-cutting rule 3": ["Same key with a different method, path or body: 422 idempotency_key_reused."],
  "Cross-cutting rule 4": ["Same key while the first request still runs: 409 request_in_progress."],
  "Cross-cutting rule 5": [
    "A 4xx is stored and replayed.",
    "A 5xx is never stored: the key is released and a retry runs the request again.",
    "A key whose request crashed before its response was stored is released after a few minutes.",
  ],
  "Cross-cutting rule 6": ["Without a key the request runs normally."],
  "Cross-cutting rule 7": [
    "Every response carries X-Request-Id.",
    "A valid X-Request-Id (up to 128 letters, digits, . _ : -) is echoed; an invalid one is replaced.",
  ],
  "Cross-cutting rule 8": ["Every response carries X-RateLimit-Limit, -Remaining and -Reset."],
  "Imports, rule 1": [
    "Validation is all-or-nothing: 400 with {errors: [{line, code, param, message}]} listing every problem, and nothing is created.",
  ],
  "Imports, rule 2": ["After acceptance rows succeed or fail independently."],
  "Imports, rule 3": [
    "upsert updates in place and appends the row's images.",
    "create fails a row with an existing reference.",
    "skip_existing leaves an existing product untouched and reports skipped.",
    "A new reference is created in every mode.",
  ],
  "Imports, rule 4": [
    "on_image_error skip attaches what worked: partial; a row whose images all fail is failed in either mode.",
    "on_image_error fail_row creates nothing for the row and discards its images.",
  ],
  "Imports, rule 5": [
    "A body of more than 8 MB: 413.",
    "Another content type: 415.",
    "502 when the pipeline is unavailable.",
  ],
  "Authentication 1": [
    "Every request needs Authorization: Bearer with an API key.",
    "Dashboard session tokens.",
  ],
  "Authentication 2": ["A request outside the key's scopes: 403 insufficient_scope."],
  "Authentication 3": ["A key bound to a user: 403."],
  "Authentication 4": ["No key, or an unknown or revoked one: 401."],
  "Authentication 5": ["Key verification is cached for a minute; a revocation takes that long to apply."],
  "Authentication 6": ["Deliveries are authenticated by their signature."],
  "Events, Signature 1": [
    "Service-Signature: t=…,v1=… is the hex HMAC-SHA256 of {t}.{raw_body}, keyed by the complete secret.",
  ],
  "Events, Signature 2": [
    "Service-Signature: t=…,v1=… is the hex HMAC-SHA256 of {t}.{raw_body}, keyed by the complete secret.",
  ],
  "Events, Signature 3": ["A receiver rejects timestamps more than 300 seconds from now."],
  "Events, Retries 1": [
    "A non-2xx response, a timeout or an unreachable host is a failure.",
    "A handler has 10 seconds.",
  ],
  "Events, Retries 2": [
    "A failed delivery is retried after about 1 minute, 5 minutes, 15 minutes, 1 hour and 6 hours, then abandoned.",
  ],
  "Events, Retries 3": ["Deliveries are at least once."],
  "Events, Retries 4": ["Polling of tasks, imports and exports still works."],
  "Versioning 1": ["The version is in the path: every path starts with /v1."],
  "Versioning 2": ["New fields and values within a version: with --tomorrow."],
  "Versioning 3": ["Clients must ignore unknown fields and pass on new values of open sets."],
};

/** The names under which comments cite a section, by its title, if they differ from the title. */
export const names: Readonly<Record<string, readonly string[]>> = {
  "The service, its resources and lists": ["What the service does", "Resources", "Endpoints", "Versioning"],
  "Cross-cutting request rules": ["Cross-cutting"],
  Products: ["Product", "ProductImage"],
  Images: ["Image"],
  Imports: ["Import", "ImportRowResult", "States (Import job, Import row)"],
  Exports: ["ExportRow", "ExportJob", "States (Export job)"],
  "Tasks and models": ["Task", "Tasks", "Model", "Models", "States (Task)"],
  Webhooks: ["Webhook", "States (Webhook)"],
  Errors: ["Status codes", "Known codes"],
};
