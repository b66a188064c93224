import { assumed, enforced, inFile, notModelled, type Section } from "../clause.ts";

const of = inFile("mock/products.test.ts");
const conformance = inFile("conformance/every-operation.test.ts");
const store = "mock/store-model.property.test.ts > the mock and a second telling of its store";

/** Products: the resource and its endpoints. */
export const products: Section = {
  title: "Products",
  clauses: [
    enforced(
      "POST /v1/products creates one and answers 201 with it.",
      [
        ...of("create > trims the reference and gives back the product"),
        `${store} > give the same answers to any sequence of requests, and hold the same in the end`,
      ],
      "operation products.create",
    ),
    enforced(
      "Name, reference and images are required; sex is one of four.",
      of("create > %s is refused with the field"),
    ),
    enforced(
      "Space around the reference is trimmed; it is unique within the organization, else 409 reference_already_exists.",
      of("create > a reference in use is 409, also with other space around it"),
      "code reference_already_exists",
    ),
    enforced(
      "Each image needs an image_id of the organization and one of the 11 orientations; an unknown id is 404.",
      of(
        "create > an image of nobody's is 404 and nothing is created",
        "create > an image without an orientation",
      ),
    ),
    enforced("One image may be on several products.", of("photos > one image may hang on several products")),
    assumed(
      "The sizes of product fields and of the images array.",
      "The import's: reference 1 to 100 (trimmed), name 1 to 200, description up to 2,000, images 1 to 20.",
      of("create > the longest of everything is accepted", "create > %s is refused with the field"),
    ),
    assumed(
      "A name of nothing but space.",
      "400, as in an import.",
      "mock/bad-requests.test.ts > a body that is not as it should be > %s is told in plain words",
    ),
    assumed("Unknown fields of a body.", "400 with the field as param.", of("create > a field nobody knows")),
    enforced(
      "GET /v1/products lists them in pages.",
      of("list > newest first, in pages"),
      "operation products.list",
    ),
    enforced(
      "Deleted products are left out.",
      of("delete > takes the product from everywhere and frees its reference"),
    ),
    enforced(
      "q is a free-text search over name and reference.",
      of("list > q finds every word in name or reference, in any case"),
    ),
    assumed("How q searches.", "Every word occurs in the name or the reference, in any case.", [
      ...of("list > q finds every word in name or reference, in any case"),
      "mock/store/product-list.test.ts > letters in any case > %s is found by %s",
      "mock/store/product-list.test.ts > the list of products > lists and finds what a look at each product finds, whatever is added, renamed and deleted",
    ]),
    assumed(
      "The order of the list.",
      "Newest first, as the service's other lists.",
      of("list > newest first, in pages"),
    ),
    enforced(
      "GET /v1/products/{product_id}: the product, or 404.",
      conformance("answers a request that is right", "refuses with %d %s"),
      "operation products.get",
      "code product_not_found",
    ),
    enforced(
      "PATCH takes application/merge-patch+json only: fields left out stay, null clears description and sex.",
      of(
        "update > changes what is given, clears on null, and moves updated_at",
        "update > takes its own content type only, and null only where a field may be null",
      ),
      "operation products.update",
    ),
    enforced(
      "PATCH to a reference in use: 409.",
      of("update > to a reference in use is 409, to one that was given up it is not"),
    ),
    enforced(
      "updated_at is bumped by name, reference, description and sex only, never by images.",
      of(
        "update > changes what is given, clears on null, and moves updated_at",
        "photos > are attached and detached without moving updated_at; the last one stays",
      ),
    ),
    assumed(
      "A patch that changes nothing.",
      "It leaves updated_at alone.",
      of("update > of nothing new leaves updated_at alone"),
    ),
    enforced(
      "DELETE answers 204; the product leaves the list and appears in delta exports with deleted_at.",
      [
        ...of("delete > takes the product from everywhere and frees its reference"),
        "mock/exports.test.ts > a delta > a deletion: the row says when, and has no assets",
      ],
      "operation products.delete",
    ),
    assumed(
      "The reference of a deleted product.",
      "It is free again.",
      of("delete > takes the product from everywhere and frees its reference"),
    ),
    enforced(
      "POST /v1/products/{product_id}/images attaches images and answers 201 with their {id, orientation, origin}.",
      of("photos > are attached and detached without moving updated_at; the last one stays"),
      "operation products.attach",
    ),
    assumed(
      "An image that the product has already.",
      "It is there once, with the new orientation.",
      of("photos > are attached and detached without moving updated_at; the last one stays"),
    ),
    enforced(
      "DELETE of a product's image answers 204, or 404 when the product or the image on it is not there.",
      of("photos > are attached and detached without moving updated_at; the last one stays"),
      "operation products.detach",
    ),
    enforced(
      "The last image cannot be removed: 422 cannot_drop_last_image.",
      [
        ...of("photos > are attached and detached without moving updated_at; the last one stays"),
        ...conformance("refuses with %d %s"),
      ],
      "code cannot_drop_last_image",
    ),
    notModelled(
      "Images linked to nothing are cleaned up later.",
      "The specification does not say when; the fake keeps them.",
    ),
    notModelled("created_at of products that predate timestamp tracking.", "No product of the fake does."),
    assumed(
      "The origin of a product's image.",
      "user for an uploaded or imported one, beautifier for a beautifier's output, other for any other generation.",
      "mock/task-life.test.ts > an output > that is attached to a product tells where it comes from",
    ),
  ],
};
