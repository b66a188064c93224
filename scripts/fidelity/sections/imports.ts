import { assumed, enforced, inFile, type Section } from "../clause.ts";

const of = inFile("mock/routes/imports.test.ts");
const conformance = inFile("conformance/every-operation.test.ts");
const row = inFile("contract/import-row.test.ts");
const policy = inFile("contract/url-policy.test.ts");

/** Imports: submission, validation, jobs and rows. */
export const imports: Section = {
  title: "Imports",
  clauses: [
    enforced(
      "POST /v1/imports accepts 1 to 2,000 rows and returns 202 with an Import.",
      of(
        "a new import > starts with status validating and no counts",
        "a new import > accepts 1 to 2,000 rows",
      ),
      "operation imports.create",
      "limit importRows",
    ),
    enforced(
      "application/x-ndjson has one row per line and its options in the query; application/json has rows and options in the body.",
      of(
        "a new import > takes options from the query for NDJSON, and counts blank lines without reading them as rows",
      ),
    ),
    enforced(
      "The defaults are mode upsert and on_image_error skip.",
      of("a new import > uses upsert and skip by default"),
    ),
    enforced("An unknown option is rejected.", of("a new import > rejects an unknown option: %s")),
    enforced("Another content type: 415.", of("a new import > rejects another content type")),
    enforced(
      "A body of more than 8 MB: 413.",
      of("a new import > rejects more than 8 MB"),
      "limit importBodyBytes",
    ),
    assumed(
      "Whether 8 MB is 8,000,000 or 8,388,608 bytes.",
      "The mock accepts 8,388,608 bytes; the CLI sends batches of at most 8,000,000.",
      [
        "mock/routes/imports.test.ts > a new import > rejects more than 8 MB",
        "flows/import/import-file.test.ts > is cut at 8 MB before 2,000 rows if the rows are long",
      ],
      "limit importBatchBytes",
    ),
    enforced(
      "A row has a reference of up to 100, a name of up to 200 and a description of up to 2,000 characters, one of four sexes, and 1 to 20 images.",
      [
        ...row("limits > %s", "the code and the schema accept the same rows"),
        "contract/openapi.test.ts > the document and the contract accept the same requests > rows of an import",
      ],
      "limit referenceLength",
      "limit nameLength",
      "limit descriptionLength",
      "limit imagesPerProduct",
    ),
    enforced(
      "An image has exactly one of url and image_id, and optionally an orientation.",
      row("the code and the schema accept the same rows"),
    ),
    enforced(
      "An image URL is https, on a public host and the default port, without credentials.",
      policy(
        "the URL policy > accepts %s",
        "the URL policy > rejects %j: %s",
        "the address %s is public: %s",
      ),
    ),
    enforced(
      "Validation is all-or-nothing: 400 with {errors: [{line, code, param, message}]} listing every problem, and nothing is created.",
      of("validation > reports every problem of every row in line order, and creates nothing"),
    ),
    enforced(
      "The codes invalid_row and duplicate_reference_in_file.",
      of("validation > reports every problem of every row in line order, and creates nothing"),
    ),
    enforced(
      "line is the line in the request body, from 1.",
      of(
        "a new import > takes options from the query for NDJSON, and counts blank lines without reading them as rows",
        "validation > counts inline rows from 1, and replays a rejection for the same key",
      ),
    ),
    assumed(
      "Blank lines, and lines that are not JSON.",
      "Blank lines have no row but count as lines. Any other line is a row; if it is not JSON, the code is invalid_row.",
      of(
        "a new import > treats only spaces, tabs and carriage returns as blank; other control characters are invalid JSON",
      ),
    ),
    assumed(
      "Too many or no rows.",
      "400 with the error envelope, because the problem has no line.",
      of("a new import > accepts 1 to 2,000 rows"),
    ),
    enforced(
      "After acceptance rows succeed or fail independently.",
      of("images that fail > make a row partial with skip, or failed if all images fail"),
    ),
    enforced(
      "upsert updates in place and appends the row's images.",
      of("an import row > sets the name and the given fields with upsert, and appends the images, each time"),
    ),
    assumed(
      "Fields that a row of an upsert does not have.",
      "They keep their values.",
      of("an import row > sets the name and the given fields with upsert, and appends the images, each time"),
    ),
    enforced(
      "create fails a row with an existing reference.",
      of("an import row > fails with create for an existing reference, and leaves its product unchanged"),
    ),
    enforced(
      "skip_existing leaves an existing product untouched and reports skipped.",
      of(
        "an import row > is skipped with skip_existing for an existing reference, and leaves its product unchanged",
      ),
    ),
    enforced(
      "A new reference is created in every mode.",
      of("an import row > creates a product for a new reference in every mode"),
    ),
    enforced(
      "on_image_error skip attaches what worked: partial; a row whose images all fail is failed in either mode.",
      of("images that fail > make a row partial with skip, or failed if all images fail"),
    ),
    enforced(
      "on_image_error fail_row creates nothing for the row and discards its images.",
      of("images that fail > fail the row with fail_row, and its other images are discarded"),
    ),
    enforced(
      "An image_id must be the ID of an uploaded image, else image_not_found.",
      of("images that fail > include unknown image IDs, while a known one is attached unchanged"),
    ),
    enforced(
      "GET /v1/imports/{import_id}: the import, with Retry-After 5 while it is validating or processing.",
      [
        ...of("an import in progress > takes one second to validate, then 10 ms per row in small steps"),
        ...conformance("an import, its rows and its errors match the contract exactly at every moment"),
      ],
      "operation imports.get",
      "code import_not_found",
      "limit jobPollSeconds",
    ),
    enforced(
      "counts.total is null while validating, never an estimate.",
      of("a new import > starts with status validating and no counts"),
    ),
    assumed(
      "The change from validating to processing, and the duration of both.",
      "Processing starts one second after the request, when every row has been checked, and takes 10 ms per row.",
      of("an import in progress > takes one second to validate, then 10 ms per row in small steps"),
    ),
    enforced(
      "Every row succeeded: completed; some partial or failed: completed_with_errors.",
      of(
        "images that fail > make a row partial with skip, or failed if all images fail",
        "an import in progress > takes one second to validate, then 10 ms per row in small steps",
      ),
    ),
    enforced(
      "A job that cannot run: failed, and no row is processed.",
      "mock/faults/faults.test.ts > an import with a job fault fails before any row is processed",
    ),
    assumed(
      "502 when the pipeline is unavailable.",
      "Only with a fault.",
      "mock/faults/faults.test.ts > a status > of %d sends the envelope with type %s and code %s",
      "code upstream_unavailable",
    ),
    enforced(
      "results_url, once terminal: a JSONL file with one ImportRowResult per row, in input order; every read returns a new signed URL.",
      of("results > have one line per row in input order, behind a newly signed URL that expires"),
    ),
    enforced(
      "GET /v1/imports/{import_id}/rows: one result per row in input order, optionally filtered by status; unprocessed rows are pending.",
      of(
        "results > are listed in pages, in input order",
        "an import in progress > shows a row as pending until its turn, and filters by status meanwhile",
      ),
      "operation imports.rows",
    ),
    enforced(
      "action is created, updated, skipped or none, and null while the row is pending.",
      of(
        "an import row > creates a product for a new reference in every mode",
        "an import row > sets the name and the given fields with upsert, and appends the images, each time",
        "an import row > fails with create for an existing reference, and leaves its product unchanged",
        "an import row > is skipped with skip_existing for an existing reference, and leaves its product unchanged",
        "an import in progress > shows a row as pending until its turn, and filters by status meanwhile",
      ),
    ),
    assumed(
      "product_id and images of failed and skipped rows.",
      "A failed row has product_id null; a skipped row has the ID of the product and no images.",
      of(
        "an import row > fails with create for an existing reference, and leaves its product unchanged",
        "an import row > is skipped with skip_existing for an existing reference, and leaves its product unchanged",
      ),
    ),
    enforced(
      "The image error codes http_error, timeout, too_large, not_an_image, blocked_host, dns_failed, image_not_found, row_failed.",
      [
        ...of("images that fail > follow the code in the URL: %s gives %s"),
        "contract/tables.test.ts > image error codes",
      ],
    ),
    enforced(
      "The row error codes reference_already_exists, no_images, image_failed, too_many_attempts.",
      "contract/tables.test.ts > row error codes",
    ),
    assumed(
      "Use of no_images and too_many_attempts.",
      "Never: a row without images is invalid, and the mock tries each row once.",
      "contract/tables.test.ts > row error codes",
    ),
    enforced(
      "An attached image has image_id, a failed one has error.",
      conformance("an import, its rows and its errors match the contract exactly at every moment"),
    ),
  ],
};
