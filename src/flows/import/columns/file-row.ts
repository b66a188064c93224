/** A photo of a row as the user's file names it: an address, an uploaded image, or a file on this machine. */
export type FileImage = { orientation?: string } & (
  | { url: string; image_id?: never; path?: never }
  | { image_id: string; url?: never; path?: never }
  | { path: string; url?: never; image_id?: never }
);

/** A row of the user's file that has passed the check: the service's row, but that a photo may be a local file. */
export interface FileRow {
  reference: string;
  name: string;
  description?: string;
  sex?: string;
  images: FileImage[];
}
