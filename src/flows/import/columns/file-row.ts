/** A photo as named in the user's file: a URL, an uploaded image, or a local file. */
export type FileImage = { orientation?: string } & (
  | { url: string; image_id?: never; path?: never }
  | { image_id: string; url?: never; path?: never }
  | { path: string; url?: never; image_id?: never }
);

/** A row of the user's file after the check: the service's row, except that a photo may be a local file. */
export interface FileRow {
  reference: string;
  name: string;
  description?: string;
  sex?: string;
  images: FileImage[];
}
