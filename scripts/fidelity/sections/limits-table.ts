import { type Clause, enforced, inFile, notModelled, type Section, type TestName } from "../clause.ts";

const value = (row: string): TestName => `contract/tables.test.ts > ${row}`;
const edges = inFile("mock/limits.test.ts");

/** A row of the table: its value, and what happens one below, at and one above it. */
const row = (text: string, name: string, ...shown: TestName[]): Clause =>
  enforced(text, [value(name), ...shown]);

/** The Limits table, row by row. */
export const limitsTable: Section = {
  title: "Limits",
  clauses: [
    enforced(
      "Every limit is tried at one less, at its value and at one more.",
      edges("every limit stands in the table, or it is said where it is shown"),
    ),
    row("Read rate: 600 a minute and organization.", "Read rate (GET)", ...edges("reads in a minute")),
    row(
      "Write rate: 60 a minute and organization.",
      "Write rate (POST, PATCH, DELETE)",
      ...edges("writes in a minute"),
    ),
    row("Rate window: starts on the minute.", "Rate window", ...edges("milliseconds after the minute began")),
    row(
      "Page size: 1 to 100, 25 unless told.",
      "Page size",
      ...edges("fewest on a page", "most on a page", "on a page unless told; is there more?"),
    ),
    row("Import rows a call: 1 to 2,000.", "Import rows per call", ...edges("fewest rows", "most rows")),
    row("Import body: 8 MB.", "Import body size", ...edges("bytes of an import")),
    row("Images of an import row: 1 to 20.", "Images per import row", ...edges("imagesPerProduct")),
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
      "mock/fetch-images.test.ts > an image that cannot be had > exactly 10 MB is not too much",
    ),
    notModelled(
      "Import image URL: fetchable without authentication for at least 24 hours.",
      "It is a promise of the caller's: the fake fetches at once, or not at all.",
      "limit importUrlAvailabilityMs",
    ),
    row(
      "Products of an export job: up to 500.",
      "Products per export job",
      ...edges("products of an export job"),
    ),
    row(
      "Try-on inputs a request: 1 to 20.",
      "Tryon inputs per request",
      ...edges("fewest try-on inputs", "most try-on inputs"),
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
      "Request id: up to 128 characters.",
      "Request id length",
      ...edges("characters of a request id; echoed?"),
    ),
    row(
      "Polling: Retry-After 5 while a job runs.",
      "Job polling interval, in seconds",
      ...edges("a job says to come back in 5 seconds for as long as it runs"),
    ),
    row(
      "Webhook handlers: 10 seconds.",
      "Webhook handler time-out",
      "mock/deliveries.test.ts > an answer > that %s is given up after 10 seconds",
    ),
    row(
      "Webhook retries: about 1 min, 5 min, 15 min, 1 h, 6 h.",
      "Webhook retry schedule",
      ...edges("webhookRetryMs"),
    ),
    notModelled(
      "Credit cost of a task and limits on concurrent tasks.",
      "Not shown in the specification; see the tasks for what is assumed.",
    ),
  ],
};
