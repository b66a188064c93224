/** A photo of a row that is a local file. */
export interface LocalImage {
  /** Its place among the row's images, from 0. */
  readonly index: number;
  /** As the user wrote it. */
  readonly path: string;
}

/** What may be wrong with a local photo. */
export type PhotoCode =
  | "photo_not_found"
  | "photo_outside_root"
  | "photo_not_readable"
  | "too_large"
  | "not_an_image";

/** What is wrong with one photo of a row. */
export interface PhotoFault extends LocalImage {
  readonly code: PhotoCode;
  readonly message: string;
}
