import { type Clause, enforced, inFile, notModeled, type Section, type TestName } from "../clause.ts";

const value = (row: string): TestName => `contract/tables.test.ts > ${row}`;
const edges = inFile("mock/rules/limits.test.ts");

/** A row of the table: the value, and the behavior one below, at and one above it. */
const row = (text: string, name: string, ...shown: TestName[]): Clause =>
  enforced(text, [value(name), ...shown]);

/** The Limits table, row by row. */
export const limitsTable: Section = {
  title: "Limits",
  clauses: [
    enforced(
      "Every limit is tested one below, at and one above its value.",
      edges("every limit is in the table or has a test elsewhere"),
    ),
    row("Read rate: 600 per minute and organization.", "Read rate (GET)", ...edges("reads per minute")),
    row(
      "Write rate: 60 per minute and organization.",
      "Write rate (POST, PATCH, DELETE)",
      ...edges("writes per minute"),
    ),
    row(
      "Rate window: starts on the minute.",
      "Rate window",
      ...edges("milliseconds after the start of the minute"),
    ),
    row(
      "Page size: 1 to 100 (default: 25).",
      "Page size",
      ...edges("minimum on a page", "maximum on a page", "on a page by default; has_more"),
    ),
    row(
      "Import rows per request: 1 to 2,000.",
      "Import rows per request",
      ...edges("minimum rows", "maximum rows"),
    ),
    row("Import body: 8 MB.", "Import body size", ...edges("bytes of an import")),
    row("Images per import row: 1 to 20.", "Images per import row", ...edges("imagesPerProduct")),
    row("Import reference: up to 100 characters.", "Import reference length", ...edges("referenceLength")),
    row("Import name: up to 200 characters.", "Import name length", ...edges("nameLength")),
    row(
      "Import description: up to 2,000 characters.",
      "Import description length",
      ...edges("descriptionLength"),
    ),
    row(
      "Image: up to 10 MB, uploaded or fetched.",
      "Image size",
      ...edges("bytes of an image"),
      "mock/jobs/fetch-images.test.ts > an image that cannot be fetched > may have exactly 10 MB",
    ),
    notModeled(
      "Import image URL: fetchable without authentication for at least 24 hours.",
      "The client is responsible for it; the mock fetches immediately or not at all.",
      "limit importUrlAvailabilityMs",
    ),
    row(
      "Products per export job: up to 500.",
      "Products per export job",
      ...edges("products of an export job"),
    ),
    row(
      "Try-on inputs per request: 1 to 20.",
      "Tryon inputs per request",
      ...edges("minimum try-on inputs", "maximum try-on inputs"),
    ),
    row(
      "Styling products of a try-on: 0 to 10.",
      "Styling products per tryon input",
      ...edges("styling products"),
    ),
    row("Signed URLs: 1 hour.", "Signed URL lifetime", ...edges("milliseconds after a URL was signed")),
    row(
      "Idempotency key: up to 255 characters.",
      "Idempotency key length",
      ...edges("characters of an idempotency key"),
    ),
    row(
      "Idempotency key: expires after 24 hours.",
      "Idempotency key lifetime",
      ...edges("milliseconds after the first request with a key; replayed?"),
    ),
    row(
      "Request ID: up to 128 characters.",
      "Request ID length",
      ...edges("characters of a request ID; echoed?"),
    ),
    row(
      "Polling: Retry-After 5 while a job runs.",
      "Job polling interval, in seconds",
      ...edges("a job sends Retry-After: 5 while it runs"),
    ),
    row(
      "Webhook handlers: 10 seconds.",
      "Webhook handler timeout",
      "mock/deliveries/deliveries.test.ts > a response > that %s times out after 10 seconds",
    ),
    row(
      "Webhook retries: about 1 min, 5 min, 15 min, 1 h, 6 h.",
      "Webhook retry schedule",
      ...edges("webhookRetryMs"),
    ),
    notModeled(
      "Credit cost of a task and limits on concurrent tasks.",
      "Not in the specification; the tasks section has the assumptions.",
    ),
  ],
};
