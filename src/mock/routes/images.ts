import { detectImageType } from "../../contract/image-file.ts";
import { signedPaths } from "../images/signed-urls.ts";
import { imageDimensions } from "../images/upload.ts";
import type { Handlers } from "../requests/pipeline.ts";
import { found, invalid, Rejection } from "../rules/rejection.ts";

export const images = {
  upload({ world, organization, body }) {
    const bytes = Buffer.from(body.value.file);
    const mime_type = detectImageType(bytes);
    if (mime_type === null) {
      throw new Rejection("unsupported_media_type", "the file is not a JPEG, PNG or WebP image", {
        param: "file",
      });
    }
    const size = imageDimensions(bytes);
    if (size === null) throw invalid("cannot read the size of the image", "file");
    const { width, height } = size;
    const id = world.ids.next();
    const created_at = world.timestamp();
    const isUpload = { bytes, subject: "", seed: "", generation: null };
    organization.images.set(id, { id, mime_type, created_at, width, height, ...isUpload });
    organization.unlinked.add(id, world.clock.now());
    return { body: { id, mime_type, created_at } };
  },

  get({ world, organization, params }) {
    const { id, mime_type, created_at } = found(organization.images.get(params.image_id), "image");
    return { body: { id, mime_type, ...world.sign(signedPaths.image(id)), created_at } };
  },
} satisfies Handlers["images"];
