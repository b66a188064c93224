import { assumed, enforced, inFile, notModelled, type Section } from "../clause.ts";

const of = inFile("mock/exports.test.ts");
const frozen = inFile("mock/exports/frozen.test.ts");
const zip = inFile("mock/exports/stored-zip.test.ts");
const names = inFile("mock/exports/filenames.test.ts");
const conformance = inFile("conformance/every-operation.test.ts");

/** Exports: rows, live pages, deltas and frozen artifacts. */
export const exports: Section = {
  title: "Exports",
  clauses: [
    enforced(
      "GET /v1/exports: one row a product, newest first, with every asset held for it.",
      of("a row > has the product and the caller's own photo, exactly", "live pages > limit %s: %d"),
      "operation exports.list",
    ),
    enforced(
      "Cursor paging that stays right while products come, go and change.",
      "mock/exports.property.test.ts > every page is right, live and since a moment, whatever changes between the pages",
    ),
    enforced(
      "Each asset appears once, under the product it was made for; stylings stand in also_features only.",
      of("a row > has the generations made for it, each once, also when one is attached as a photo"),
    ),
    enforced(
      "An asset's id is an image id that GET /v1/images/{image_id} takes; its role is source, beautifier or tryon.",
      of("a row > has the generations made for it, each once, also when one is attached as a photo"),
    ),
    assumed(
      "A generation whose product is deleted, but which is attached to others as a photo.",
      "It is listed once, under the first created of those; a delta tells of the rows that it moves between.",
      of(
        "a generation of a deleted product > is listed once, under the first created product that has it as a photo, wherever it moves",
        "a generation of a deleted product > whose task ended after the deletion is listed where it is attached",
      ),
    ),
    enforced(
      "ai_generated is false for the caller's own photos only; task_id is null for them.",
      of("a row > has the product and the caller's own photo, exactly"),
    ),
    enforced(
      "attributes: orientation for a source; angle_shot, background and model_id for generations.",
      of("a row > has the generations made for it, each once, also when one is attached as a photo"),
    ),
    enforced(
      "created_at is when the bytes were made: the upload of a photo, the end of a generation's task.",
      [
        ...of("a row > has the product and the caller's own photo, exactly"),
        "mock/task-life.test.ts > an output > is an image of the organization, made when the task ended",
      ],
    ),
    enforced(
      "total_assets counts the assets of the selection when the job was created.",
      frozen(
        "a manifest > is there at once, one row a line, as the rows were",
        "a zip > is rendered on the clock",
      ),
    ),
    notModelled(
      "Watermarks, edits (derived, edit_number) and the role recoloring.",
      "No plan and no editor: watermarked and derived are false.",
    ),
    notModelled("The active version of an image.", "Without edits it is the original."),
    enforced(
      "role lists comma-separated roles; products are listed even without a matching asset.",
      of("roles > %j leaves the others out, products stay"),
    ),
    assumed("A role that does not exist.", "400 with param role.", of("roles > %j is refused")),
    enforced("since: only products changed at or after that instant; it may have an offset.", [
      ...of("a delta > since %s: %d rows", "a delta > nothing"),
      "mock/store/change-list.property.test.ts > finds exactly those that changed since, newest first, from any place on, whatever came in whatever order",
    ]),
    enforced(
      "A change is a field edited, a photo attached, a generation completed, or the product deleted.",
      of(
        "a delta > a field",
        "a delta > a photo attached",
        "a delta > a generation that finished",
        "a delta > a deletion: the row says when, and has no assets",
      ),
    ),
    assumed(
      "A photo taken off.",
      "It is no change, as the specification does not name it.",
      of("a delta > a photo taken off"),
    ),
    enforced(
      "Each delta row is the product's whole current state.",
      of("a delta > %s brings the product's whole state"),
    ),
    enforced(
      "A deleted product appears with deleted_at and without assets.",
      of("a delta > a deletion: the row says when, and has no assets"),
    ),
    enforced(
      "POST /v1/exports freezes a selection and answers 202 with an ExportJob; format is manifest unless told.",
      [
        ...frozen("a manifest > is there at once, one row a line, as the rows were"),
        ...conformance("answers a request that is right"),
      ],
      "operation exports.create",
    ),
    enforced(
      "A manifest is completed at once, a JSONL file with one ExportRow a line.",
      frozen("a manifest > is there at once, one row a line, as the rows were"),
    ),
    enforced("It stays as it was frozen.", frozen("a manifest > stays as it was, whatever changes")),
    enforced(
      "Up to 500 product_ids; without them the whole catalogue, with the same cap.",
      frozen(
        "a manifest > %d ids: %d",
        "a manifest > of a catalogue of %d products has the newest 500 at most",
      ),
      "limit exportProducts",
    ),
    assumed(
      "Which 500 of a larger catalogue, and the order of a selection.",
      "The newest; products that were named come in the order named, each once.",
      frozen(
        "a manifest > of a catalogue of %d products has the newest 500 at most",
        "a manifest > of products by id: each once, in the order named, only those roles",
      ),
    ),
    assumed(
      "An empty list of product_ids.",
      "A selection of nothing.",
      frozen("a manifest > of nothing is empty"),
    ),
    enforced(
      "A product id that is not there: 404, and no job.",
      frozen("a manifest > of a product that is not there: 404, and no job"),
    ),
    enforced("An invalid selection: 400.", frozen("a manifest > %j is refused")),
    assumed(
      "POST /v1/exports without a body.",
      "As every field is optional: the whole catalogue as a manifest.",
      frozen("a manifest > of %s has the whole catalogue", "a manifest > of the type %s and the body %j: %d"),
    ),
    enforced(
      "GET /v1/exports/{export_id}: the job, its url signed anew on every read; with Retry-After 5 while it is processing.",
      [
        ...frozen(
          "a manifest > is signed anew on every read, its assets are not",
          "a zip > is rendered on the clock",
        ),
        ...conformance("refuses with %d %s"),
      ],
      "operation exports.get",
      "code export_not_found",
    ),
    enforced(
      "The asset URLs in a manifest live one hour from its writing.",
      frozen("a manifest > is signed anew on every read, its assets are not"),
    ),
    enforced(
      "A zip is rendered in the background: processing, then completed or failed.",
      frozen("a zip > is rendered on the clock", "a zip > fails when it was ordered to"),
    ),
    assumed(
      "How long a zip takes.",
      "It follows the clock, and --speed.",
      frozen("a zip > is rendered on the clock", "a zip > takes a tenth of the time at ten times the speed"),
    ),
    enforced(
      "A zip holds the image files and is whole for other programs.",
      zip(
        "a ZIP > has the bytes that yazl writes, with ZIP64 and without",
        "a %s ZIP is whole for other programs:",
      ),
    ),
    enforced(
      "A zip has every name once.",
      frozen("a zip > has every name once, also where products of different references ask for the same"),
    ),
    enforced("suggested_filename is a filename, never a path, with the real extension.", [
      ...of("a row > has the product and the caller's own photo, exactly"),
      ...names("no two are ever the same, in any case"),
    ]),
    assumed(
      "The organization's naming template, and per-workflow formats.",
      "REFERENCE_orientation for photos, REFERENCE_role_angle for generations; files keep their format.",
      of(
        "a row > gives photos of one orientation different names, the same whatever is asked for",
        "roles > do not change the names",
      ),
    ),
  ],
};
