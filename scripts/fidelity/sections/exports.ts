import { assumed, enforced, inFile, type Section } from "../clause.ts";

const of = inFile("mock/routes/exports.test.ts");
const parts = inFile("mock/parts/parts.test.ts");
const frozen = inFile("mock/exports/frozen.test.ts");
const zip = inFile("mock/exports/stored-zip.test.ts");
const names = inFile("mock/exports/filenames.test.ts");
const conformance = inFile("conformance/every-operation.test.ts");

/** Exports: rows, live pages, deltas and frozen artifacts. */
export const exports: Section = {
  title: "Exports",
  clauses: [
    enforced(
      "GET /v1/exports: one row per product, newest first, with all its assets.",
      of("a row > has exactly the product and its uploaded photo", "live pages > limit %s: %d"),
      "operation exports.list",
    ),
    enforced(
      "Cursor paging stays correct while products are added, changed and deleted.",
      "mock/routes/exports.property.test.ts > every page is correct, live and in a delta, whatever changes between pages",
    ),
    enforced(
      "Each asset appears once, under the product it was made for; styling products are only in also_features.",
      of("a row > has each generated image once, even if it is attached as a photo"),
    ),
    enforced(
      "The ID of an asset is an image ID for GET /v1/images/{image_id}; its role is source, beautifier or tryon.",
      of("a row > has each generated image once, even if it is attached as a photo"),
    ),
    assumed(
      "A generation of a deleted product.",
      "It stays an image, but is no asset, also of other products that have it as a photo.",
      of("a generation of a deleted product stays an image, but is no asset, also where it is attached"),
    ),
    enforced(
      "For uploaded photos, and only for them, ai_generated is false and task_id is null.",
      of("a row > has exactly the product and its uploaded photo"),
    ),
    enforced(
      "attributes: orientation for a source; angle_shot, background and model_id for generations.",
      of("a row > has each generated image once, even if it is attached as a photo"),
    ),
    enforced(
      "created_at is the creation time of the bytes: the upload of a photo, the end of the task of a generation.",
      [
        ...of("a row > has exactly the product and its uploaded photo"),
        "mock/jobs/task-life.test.ts > an output > is an image of the organization, created at the end of the task",
      ],
    ),
    enforced(
      "total_assets counts the assets of the selection when the job was created.",
      frozen(
        "a manifest > is completed immediately, with one row per line",
        "a zip > takes time on the clock",
      ),
    ),
    enforced("The role recoloring, and new roles and attributes.", [
      ...parts(
        "an asset > can be a recoloring of the dashboard, with open attributes and unknown sizes",
        "an asset > with a new role is listed, also as a photo that its product gets",
      ),
    ]),
    enforced(
      "Watermarks, edits (derived, edit_number) and the active version of an image.",
      parts(
        "an asset > that is edited has other bytes under the same ID, and the original stays",
        "an asset > can be a watermarked photo, and unreadable pixels stay as they are",
      ),
    ),
    enforced(
      "role is a comma-separated list; products without matching assets are still listed.",
      of("roles > %j lists only those assets, but all products"),
    ),
    assumed("A role that does not exist.", "400 with param role.", of("roles > rejects %j")),
    enforced("since: only products changed at or after that time; it can have an offset.", [
      ...of("a delta > since %s: %d rows", "a delta > an unchanged product"),
      "mock/store/change-list.property.test.ts > the list of changes finds exactly the products changed since a time, newest first, from any position",
    ]),
    enforced(
      "A change is a field edited, a photo attached, a generation completed, or the product deleted.",
      of(
        "a delta > a changed field",
        "a delta > an attached photo",
        "a delta > a finished generation",
        "a delta > has a deleted product with deleted_at and without assets",
      ),
    ),
    assumed(
      "Detaching a photo.",
      "Not a change, because the specification does not mention it.",
      of("a delta > a product with a detached photo"),
    ),
    enforced(
      "Each delta row has the complete current state of the product.",
      of("a delta > has the complete state of a product after %s"),
    ),
    enforced(
      "A deleted product appears with deleted_at and without assets.",
      of("a delta > has a deleted product with deleted_at and without assets"),
    ),
    enforced(
      "POST /v1/exports freezes a selection and returns 202 with an ExportJob (default format: manifest).",
      [
        ...frozen("a manifest > is completed immediately, with one row per line"),
        ...conformance("accepts a valid request"),
      ],
      "operation exports.create",
    ),
    enforced(
      "A manifest is completed immediately; it is a JSONL file with one ExportRow per line.",
      frozen("a manifest > is completed immediately, with one row per line"),
    ),
    enforced("A manifest never changes.", frozen("a manifest > does not change after the products do")),
    enforced(
      "Up to 500 product_ids; without them all products, with the same limit.",
      frozen(
        "a manifest > with %d IDs: %d",
        "a manifest > of a catalog of %d products has at most the newest 500",
      ),
      "limit exportProducts",
    ),
    assumed(
      "The 500 products of a larger catalog, and the order of a selection.",
      "The newest 500. product_ids are exported in the order given, without duplicates.",
      frozen(
        "a manifest > of a catalog of %d products has at most the newest 500",
        "a manifest > of product IDs has each once, in the given order, with only the given roles",
      ),
    ),
    assumed(
      "An empty list of product_ids.",
      "It selects no products.",
      frozen("a manifest > of no products is empty"),
    ),
    enforced(
      "An unknown product ID: 404, and no job.",
      frozen("a manifest > of an unknown product: 404, and no job"),
    ),
    enforced("An invalid selection: 400.", frozen("a manifest > rejects %j")),
    assumed(
      "POST /v1/exports without a body.",
      "All products as a manifest, because every field is optional.",
      frozen("a manifest > of %s has all products", "a manifest > with the type %s and the body %j: %d"),
    ),
    enforced(
      "GET /v1/exports/{export_id}: the job, with a new signed url on every read and Retry-After 5 while processing.",
      [
        ...frozen(
          "a manifest > has a new signed URL on every read, but its assets do not",
          "a zip > takes time on the clock",
        ),
        ...conformance("rejects with %d %s"),
      ],
      "operation exports.get",
      "code export_not_found",
    ),
    enforced(
      "The asset URLs in a manifest are valid for one hour from its creation.",
      frozen("a manifest > has a new signed URL on every read, but its assets do not"),
    ),
    enforced(
      "A zip is rendered in the background: processing, then completed or failed.",
      frozen("a zip > takes time on the clock", "a zip > fails if a fault requires it"),
    ),
    assumed(
      "The duration of a zip job.",
      "It depends on the clock and --speed.",
      frozen("a zip > takes time on the clock", "a zip > takes a tenth of the time at ten times the speed"),
    ),
    enforced(
      "A zip has the image files, and other programs can read it.",
      zip("a ZIP > has the same bytes as one from yazl, with ZIP64 and without", "a %s ZIP can be read by"),
    ),
    enforced(
      "Names in a zip are unique.",
      frozen("a zip > has unique names, even if products with different references need the same one"),
    ),
    enforced("suggested_filename is a filename, never a path, with the real extension.", [
      ...of("a row > has exactly the product and its uploaded photo"),
      ...names("names are unique, even without case"),
    ]),
    assumed(
      "The organization's naming template, and per-workflow formats.",
      "REFERENCE_orientation for photos, REFERENCE_role_angle for generations; files keep their format.",
      of(
        "a row > has different names for photos of one orientation, whatever the role filter",
        "roles > do not change the names",
      ),
    ),
  ],
};
