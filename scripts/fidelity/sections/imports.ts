import { assumed, enforced, inFile, type Section } from "../clause.ts";

const of = inFile("mock/imports.test.ts");
const conformance = inFile("conformance/every-operation.test.ts");
const row = inFile("contract/import-row.test.ts");
const policy = inFile("contract/url-policy.test.ts");

/** Imports: submission, validation, jobs and rows. */
export const imports: Section = {
  title: "Imports",
  clauses: [
    enforced(
      "POST /v1/imports takes 1 to 2,000 rows and answers 202 with an Import.",
      of(
        "submission > an import is validating first: nothing is counted yet",
        "submission > 1 and 2,000 rows pass; none and 2,001 do not",
      ),
      "operation imports.create",
      "limit importRows",
    ),
    enforced(
      "application/x-ndjson has one row a line and its options in the query; application/json has rows and options in the body.",
      of(
        "submission > with NDJSON the options stand in the query; blank lines hold no row but count as lines",
      ),
    ),
    enforced(
      "mode is upsert and on_image_error skip unless told.",
      of("submission > the defaults are upsert and skip"),
    ),
    enforced("An option nobody knows is refused.", of("submission > an option nobody knows is refused: %s")),
    enforced("Another content type: 415.", of("submission > another content type is refused")),
    enforced(
      "A body of more than 8 MB: 413.",
      of("submission > 8 MB pass, a byte more does not"),
      "limit importBodyBytes",
    ),
    assumed(
      "Whether 8 MB are 8,000,000 or 8,388,608 bytes.",
      "The fake takes 8,388,608, and the tool cuts its calls at 8,000,000.",
      [
        "mock/imports.test.ts > submission > 8 MB pass, a byte more does not",
        "flows/import/import-file.test.ts > is cut by 8 MB before 2,000 rows where the rows are long",
      ],
      "limit importCallBytes",
    ),
    enforced(
      "A row has a reference of up to 100, a name of up to 200 and a description of up to 2,000 characters, one of four sexes, and 1 to 20 images.",
      [
        ...row("limits > %s", "the rules as running code and as a schema accept the same rows"),
        "contract/openapi.test.ts > what the document takes as a request is what the contract takes > rows of an import",
      ],
      "limit referenceLength",
      "limit nameLength",
      "limit descriptionLength",
      "limit imagesPerProduct",
    ),
    enforced(
      "An image has exactly one of url and image_id, and maybe an orientation.",
      row("the rules as running code and as a schema accept the same rows"),
    ),
    enforced(
      "An image URL is https, on a public host and the default port, without credentials.",
      policy(
        "the URL policy > accepts %s",
        "the URL policy > refuses %j: %s",
        "the address %s is public: %s",
      ),
    ),
    enforced(
      "Validation is all-or-nothing: 400 with {errors: [{line, code, param, message}]} listing every problem, and nothing is created.",
      of(
        "validation is all-or-nothing > every problem of every row, in the order of the lines, and nothing is created",
      ),
    ),
    enforced(
      "The codes invalid_row and duplicate_reference_in_file.",
      of(
        "validation is all-or-nothing > every problem of every row, in the order of the lines, and nothing is created",
      ),
    ),
    enforced(
      "line counts lines of the submitted body, from 1.",
      of(
        "submission > with NDJSON the options stand in the query; blank lines hold no row but count as lines",
        "validation is all-or-nothing > inline rows are counted from 1, and the refusal is replayed under its key",
      ),
    ),
    assumed(
      "Blank lines and lines that are no JSON.",
      "A blank line holds no row but counts; any other line is a row, and invalid_row when it is no JSON.",
      of(
        "submission > only spaces, tabs and carriage returns are blank; another control character is a line that is no JSON",
      ),
    ),
    assumed(
      "Too many or no rows.",
      "400 with the error envelope, as there is no line to name.",
      of("submission > 1 and 2,000 rows pass; none and 2,001 do not"),
    ),
    enforced(
      "After acceptance rows succeed or fail independently.",
      of("images that fail > skip attaches what worked: partial; all failed is failed"),
    ),
    enforced(
      "upsert updates in place and appends the row's images.",
      of("modes > upsert sets name and the fields given, and appends the images, each time"),
    ),
    assumed(
      "What an upsert does to fields that a row leaves out.",
      "They stay as they are.",
      of("modes > upsert sets name and the fields given, and appends the images, each time"),
    ),
    enforced(
      "create fails a row with an existing reference.",
      of("modes > create fails an existing reference and leaves it as it was"),
    ),
    enforced(
      "skip_existing leaves an existing product untouched and reports skipped.",
      of("modes > skip_existing leaves it untouched and says so"),
    ),
    enforced(
      "A new reference is created in every mode.",
      of("modes > a new reference is created, whatever the mode"),
    ),
    enforced(
      "on_image_error skip attaches what worked: partial; a row whose images all fail is failed in either mode.",
      of("images that fail > skip attaches what worked: partial; all failed is failed"),
    ),
    enforced(
      "on_image_error fail_row creates nothing for the row and discards its images.",
      of("images that fail > fail_row creates nothing for the row and discards what worked"),
    ),
    enforced(
      "An image_id refers to an uploaded image, else image_not_found.",
      of("images that fail > an image id of nobody's fails, one of ours is attached as it is"),
    ),
    enforced(
      "GET /v1/imports/{import_id}: the import, with Retry-After 5 while it is validating or processing.",
      [
        ...of("over time > validating for a second, then 10 ms a row in small steps, then done"),
        ...conformance("an import is exact at every moment, and so are its rows and refusals"),
      ],
      "operation imports.get",
      "code import_not_found",
      "limit jobPollSeconds",
    ),
    enforced(
      "counts.total is null while validating, never an estimate.",
      of("submission > an import is validating first: nothing is counted yet"),
    ),
    assumed(
      "When validating becomes processing, and how long each takes.",
      "Once every row was checked, a second after the submission; then 10 ms a row.",
      of("over time > validating for a second, then 10 ms a row in small steps, then done"),
    ),
    enforced(
      "Every row succeeded: completed; some partial or failed: completed_with_errors.",
      of(
        "images that fail > skip attaches what worked: partial; all failed is failed",
        "over time > validating for a second, then 10 ms a row in small steps, then done",
      ),
    ),
    enforced(
      "A job that cannot run: failed, and no row is processed.",
      "mock/faults.test.ts > a job that is ordered to fail cannot run: no row is processed",
    ),
    assumed(
      "502 when the pipeline is unavailable.",
      "Ordered with a fault only.",
      "mock/faults.test.ts > a status > %d has the envelope with the type %s and the code %s",
      "code upstream_unavailable",
    ),
    enforced(
      "results_url, once terminal: a signed JSONL file of ImportRowResult, one a row, in input order; signed anew on every read.",
      of("results > a line a row in input order, behind a URL that is signed anew and really ends"),
    ),
    enforced(
      "GET /v1/imports/{import_id}/rows: one result a row in input order, by status; rows not yet processed read as pending.",
      of(
        "results > rows in pages, in input order",
        "over time > a row reads as pending until its turn, and can be filtered by status while rows move on",
      ),
      "operation imports.rows",
    ),
    enforced(
      "action is created, updated, skipped or none, and null while the row is pending.",
      of(
        "modes > a new reference is created, whatever the mode",
        "modes > upsert sets name and the fields given, and appends the images, each time",
        "modes > create fails an existing reference and leaves it as it was",
        "modes > skip_existing leaves it untouched and says so",
        "over time > a row reads as pending until its turn, and can be filtered by status while rows move on",
      ),
    ),
    assumed(
      "product_id and images of rows that failed or were skipped.",
      "product_id is null for a failed row; a skipped one has the product's id and no images.",
      of(
        "modes > create fails an existing reference and leaves it as it was",
        "modes > skip_existing leaves it untouched and says so",
      ),
    ),
    enforced(
      "The image error codes http_error, timeout, too_large, not_an_image, blocked_host, dns_failed, image_not_found, row_failed.",
      [...of("images that fail > %s: %s"), "contract/tables.test.ts > image error codes"],
    ),
    enforced(
      "The row error codes reference_already_exists, no_images, image_failed, too_many_attempts.",
      "contract/tables.test.ts > row error codes",
    ),
    assumed(
      "When no_images and too_many_attempts are given.",
      "Never: a row without images does not validate, and the fake tries a row once.",
      "contract/tables.test.ts > row error codes",
    ),
    enforced(
      "image_id is there when an image was attached, error when it was not.",
      conformance("an import is exact at every moment, and so are its rows and refusals"),
    ),
  ],
};
