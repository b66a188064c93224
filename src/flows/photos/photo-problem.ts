/** A photo of a row that is a local file. */
export interface LocalImage {
  /** Its index among the row's images, from 0. */
  readonly index: number;
  /** The path as written in the file. */
  readonly path: string;
}

/** Possible problems of a local photo. */
export type PhotoCode =
  | "photo_not_found"
  | "photo_outside_root"
  | "photo_not_readable"
  | "too_large"
  | "not_an_image";

/** The problem of one photo of a row. */
export interface PhotoProblem extends LocalImage {
  readonly code: PhotoCode;
  readonly message: string;
  /** Whether it is a folder, a pipe or a device. */
  readonly isNoFile?: boolean;
}
