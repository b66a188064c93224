import { assumed, enforced, inFile, notModelled, type Section } from "../clause.ts";

const of = inFile("mock/images.test.ts");
const conformance = inFile("conformance/every-operation.test.ts");

/** Images: uploads and signed URLs. */
export const images: Section = {
  title: "Images",
  clauses: [
    enforced(
      "POST /v1/images takes multipart/form-data with the field file, and answers 201 with id, mime_type and created_at.",
      of(
        "upload > types the image from its bytes and gives its id",
        "upload > no part named file",
        "upload > no form at all",
      ),
      "operation images.upload",
    ),
    enforced(
      "JPEG, PNG or WebP, detected from the bytes; the declared type is ignored; anything else is 415.",
      of("upload > types the image from its bytes and gives its id", "upload > a GIF"),
      "code unsupported_media_type",
    ),
    enforced(
      "At most 10 MB, else 413.",
      of("upload > 10 MB pass, a byte more does not, and far more is refused before it is read"),
      "limit imageBytes",
      "code body_too_large",
    ),
    assumed(
      "An image that begins right and cannot be read.",
      "400 with param file.",
      of("upload > a PNG cut after its signature"),
    ),
    assumed(
      "Further fields of the form, and a second file.",
      "400.",
      of(
        "upload > a field nobody knows is refused, a form without a boundary and another type, too",
        "upload > two files",
      ),
    ),
    enforced(
      "The id may be used at once.",
      "mock/products.test.ts > create > trims the reference and gives back the product",
    ),
    enforced(
      "GET /v1/images/{image_id}: the image with a fresh signed URL to the original bytes, or 404.",
      [
        ...of("a signed URL > gives the bytes to whoever holds it, for exactly an hour"),
        ...conformance("refuses with %d %s"),
      ],
      "operation images.get",
      "code image_not_found",
    ),
    enforced(
      "A signed URL lives one hour.",
      of("a signed URL > gives the bytes to whoever holds it, for exactly an hour"),
      "limit signedUrlMs",
    ),
    assumed(
      "What a signed URL answers when it has expired or was altered.",
      "403 url_expired, in the error envelope.",
      of(
        "a signed URL > gives the bytes to whoever holds it, for exactly an hour",
        "a signed URL > altered in any part is refused",
      ),
      "code url_expired",
    ),
    notModelled("An upload is rolled back whole on a failure.", "It is in memory: there is no half of it."),
  ],
};
