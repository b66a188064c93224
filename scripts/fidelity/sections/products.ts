import { assumed, enforced, inFile, notModeled, type Section } from "../clause.ts";

const of = inFile("mock/routes/products.test.ts");
const parts = inFile("mock/parts/parts.test.ts");
const conformance = inFile("conformance/every-operation.test.ts");
const store = "mock/store/store-model.property.test.ts > the mock and a simple model of its store";

/** Products: the resource and its endpoints. */
export const products: Section = {
  title: "Products",
  clauses: [
    enforced(
      "POST /v1/products creates a product and returns it with 201.",
      [
        ...of("create > trims the reference and returns the product"),
        `${store} > have the same responses to any sequence of requests, and the same final state`,
      ],
      "operation products.create",
    ),
    enforced(
      "Name, reference and images are required; sex is one of four.",
      of("create > rejects %s with its field"),
    ),
    enforced(
      "Whitespace around the reference is trimmed. The reference is unique within the organization, else 409 reference_already_exists.",
      of("create > gets 409 for a reference in use, even with other surrounding spaces"),
      "code reference_already_exists",
    ),
    enforced(
      "Each image needs an image_id of the organization and one of the 11 orientations; an unknown ID is 404.",
      of(
        "create > gets 404 for an unknown image, and creates nothing",
        "create > an image without an orientation",
      ),
    ),
    enforced(
      "Several products can share an image.",
      of("photos > can share one image between several products"),
    ),
    assumed(
      "The sizes of product fields and of the images array.",
      "As in imports: reference 1 to 100 (trimmed), name 1 to 200, description up to 2,000, images 1 to 20.",
      of("create > accepts the maximum length of every field", "create > rejects %s with its field"),
    ),
    assumed(
      "A name that is only whitespace.",
      "400, as in an import.",
      "mock/requests/bad-requests.test.ts > an invalid body > is reported in plain words: %s",
    ),
    assumed("Unknown fields of a body.", "400 with the field as param.", of("create > an unknown field")),
    enforced(
      "GET /v1/products lists them in pages.",
      of("list > returns the newest products first, in pages"),
      "operation products.list",
    ),
    enforced(
      "Deleted products are not listed.",
      of("delete > removes the product everywhere and releases its reference"),
    ),
    enforced(
      "q is a free-text search over name and reference.",
      of("list > finds products with every word of q in name or reference, in any letter case"),
    ),
    assumed("The search of q.", "Every word occurs in the name or the reference, in any case.", [
      ...of("list > finds products with every word of q in name or reference, in any letter case"),
      "mock/store/product-list.test.ts > case-insensitive search > finds %s with %s",
      "mock/store/product-list.test.ts > the list of products > gives the same results as a scan, whatever is added, renamed and deleted",
    ]),
    assumed(
      "The order of the list.",
      "Newest first, like the other lists of the service.",
      of("list > returns the newest products first, in pages"),
    ),
    enforced(
      "GET /v1/products/{product_id}: the product, or 404.",
      conformance("accepts a valid request", "rejects with %d %s"),
      "operation products.get",
      "code product_not_found",
    ),
    enforced(
      "PATCH accepts only application/merge-patch+json: absent fields keep their value, null clears description and sex.",
      of(
        "update > changes the given fields, clears them on null, and sets updated_at",
        "update > accepts only its own content type, and null only for nullable fields",
      ),
      "operation products.update",
    ),
    enforced(
      "PATCH to a reference in use: 409.",
      of("update > gets 409 for a reference in use, but not for a released one"),
    ),
    enforced(
      "updated_at is bumped by name, reference, description and sex only, never by images.",
      of(
        "update > changes the given fields, clears them on null, and sets updated_at",
        "photos > are attached and detached without changing updated_at, but the last one cannot be detached",
      ),
    ),
    assumed(
      "A patch that changes nothing.",
      "updated_at does not change.",
      of("update > does not change updated_at without a new value"),
    ),
    enforced(
      "DELETE returns 204; the product leaves the list and appears in delta exports with deleted_at.",
      [
        ...of("delete > removes the product everywhere and releases its reference"),
        "mock/routes/exports.test.ts > a delta > has a deleted product with deleted_at and without assets",
      ],
      "operation products.delete",
    ),
    assumed(
      "The reference of a deleted product.",
      "It can be used again.",
      of("delete > removes the product everywhere and releases its reference"),
    ),
    enforced(
      "POST /v1/products/{product_id}/images attaches images and returns 201 with their {id, orientation, origin}.",
      of(
        "photos > are attached and detached without changing updated_at, but the last one cannot be detached",
      ),
      "operation products.attach",
    ),
    assumed(
      "Attaching an image that the product already has.",
      "The product has it once, with the new orientation.",
      of(
        "photos > are attached and detached without changing updated_at, but the last one cannot be detached",
      ),
    ),
    enforced(
      "DELETE of a product's image returns 204, or 404 if the product does not exist or does not have the image.",
      of(
        "photos > are attached and detached without changing updated_at, but the last one cannot be detached",
      ),
      "operation products.detach",
    ),
    enforced(
      "The last image cannot be removed: 422 cannot_drop_last_image.",
      [
        ...of(
          "photos > are attached and detached without changing updated_at, but the last one cannot be detached",
        ),
        ...conformance("rejects with %d %s"),
      ],
      "code cannot_drop_last_image",
    ),
    assumed(
      "Images linked to no product or task are cleaned up later.",
      "After seven days; those of an earlier export stay.",
      parts(
        "an image without a product > is cleaned up after seven days, unless a product has it by then",
        "an image without a product > stays while an export has it",
      ),
    ),
    notModeled("created_at of products that predate timestamp tracking.", "The mock has no such products."),
    assumed(
      "The origin of a product's image.",
      "user for an uploaded or imported image, beautifier for the output of a beautifier task, other for any other generation.",
      "mock/jobs/task-life.test.ts > an output > has its origin when attached to a product",
    ),
  ],
};
