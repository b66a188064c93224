import { assumed, enforced, inFile, notModeled, type Section } from "../clause.ts";

const of = inFile("mock/routes/images.test.ts");
const conformance = inFile("conformance/every-operation.test.ts");

/** Images: uploads and signed URLs. */
export const images: Section = {
  title: "Images",
  clauses: [
    enforced(
      "POST /v1/images accepts multipart/form-data with the field file and returns 201 with id, mime_type and created_at.",
      of(
        "upload > detects the type from the bytes and returns the ID",
        "upload > no part named file",
        "upload > a body that is not a form",
      ),
      "operation images.upload",
    ),
    enforced(
      "JPEG, PNG or WebP, detected from the bytes; the declared type is ignored; anything else is 415.",
      of("upload > detects the type from the bytes and returns the ID", "upload > a GIF"),
      "code unsupported_media_type",
    ),
    enforced(
      "At most 10 MB, else 413.",
      [
        ...of("upload > rejects more than 10 MB, and far more before reading it"),
        "mock/rules/limits.test.ts > bytes of an image",
      ],
      "limit imageBytes",
      "code body_too_large",
    ),
    assumed(
      "An image with a valid signature that cannot be read.",
      "400 with param file.",
      of("upload > a PNG truncated after its signature"),
    ),
    assumed(
      "Other form fields, and a second file.",
      "400.",
      of(
        "upload > rejects an unknown field, a form without a boundary and another content type",
        "upload > two files",
      ),
    ),
    enforced(
      "The ID can be used immediately.",
      "mock/routes/products.test.ts > create > trims the reference and returns the product",
    ),
    enforced(
      "GET /v1/images/{image_id}: the image with a fresh signed URL to the original bytes, or 404.",
      [
        ...of("a signed URL > returns the bytes without an API key for exactly an hour"),
        ...conformance("rejects with %d %s"),
      ],
      "operation images.get",
      "code image_not_found",
    ),
    enforced(
      "A signed URL is valid for one hour.",
      of("a signed URL > returns the bytes without an API key for exactly an hour"),
      "limit signedUrlMs",
    ),
    assumed(
      "The response for an expired or altered signed URL.",
      "403 url_expired, in the error envelope.",
      of(
        "a signed URL > returns the bytes without an API key for exactly an hour",
        "a signed URL > is rejected if altered in any part",
      ),
      "code url_expired",
    ),
    notModeled("A failed upload is rolled back.", "Uploads are stored in memory in one step."),
  ],
};
