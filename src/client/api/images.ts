// Made from the contract by `npm run api-types`; a test compares it with the contract.
import type { CallOptions, Upload } from "./calls.ts";

/** The response to an upload. The ID can be used immediately. Specification: Endpoints, Images. */
export interface ImageUpload {
  /** The ID. A ULID: 26 characters. */
  id: string;
  /** Determined from the bytes, not from a declared content type. */
  mime_type: "image/jpeg" | "image/png" | "image/webp";
  /** When it was created. RFC 3339, in UTC. */
  created_at: string;
}

/** An uploaded image. Specification: Resources and their fields, Image. */
export interface Image {
  /** The ID. A ULID: 26 characters. */
  id: string;
  /** Determined from the bytes, not from a declared content type. */
  mime_type: "image/jpeg" | "image/png" | "image/webp";
  /** Signed URL of the original bytes, valid for 60 minutes. Every read returns a new one. */
  url: string;
  /** When the URL expires. RFC 3339, in UTC. */
  url_expires_at: string;
  /** When it was created. RFC 3339, in UTC. */
  created_at: string;
}

/** The input of `client.images.upload`. */
export type ImagesUploadInput = Upload;

/** The input of `client.images.get`. */
export interface ImagesGetInput {
  /** The ID of an image. */
  image_id: string;
}

/** Photos. Upload the bytes, then use the ID. Specification: Endpoints, Images. */
export interface ImagesApi {
  /**
   * Upload an image. `POST /v1/images` with the scope `images:write` (Endpoints, Images).
   * @throws {ApiError} the errors of every request (see `ErrorCode`).
   */
  upload(input: ImagesUploadInput, options?: CallOptions): Promise<ImageUpload>;

  /**
   * Get an image with a fresh signed URL. `GET /v1/images/{image_id}` with the scope `images:read` (Endpoints,
   * Images).
   * @throws {ApiError} 404 `image_not_found`, the errors of every request (see `ErrorCode`).
   */
  get(input: ImagesGetInput, options?: CallOptions): Promise<Image>;
}
