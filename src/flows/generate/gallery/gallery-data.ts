// Gallery: the page on which a person reviews the images of a run.

import type { GenerationKind } from "../../../contract/generation-rules.ts";

/** The name of the file that the page saves decisions in. */
export const decisionsFile = "decisions.csv";

/** What the page of a gallery knows, apart from the images: these follow in blocks, by their index. */
export interface GalleryData {
  /** The run: the browser keeps decisions under its name. */
  readonly run: string;
  readonly kind: GenerationKind;
  /** The input, as people call it. */
  readonly title: string;
  /** The file that decisions are saved as, its columns, and the command that reads it. */
  readonly decisionsFile: string;
  readonly columns: readonly string[];
  readonly rerunCommand: string;
  /** The folder of the saved images as a relative URL with a slash at its end; null where none are next to the page. */
  readonly folder: string | null;
  readonly imagesPerBlock: number;
  readonly products: readonly GalleryProduct[];
  readonly results: readonly GalleryEntry[];
}

export interface GalleryProduct {
  readonly id: string;
  readonly reference: string | null;
  readonly name: string | null;
  /** The index of its photo among the images. */
  readonly photo: number | null;
}

/** One result, in the order of the input. */
export interface GalleryEntry {
  readonly line: number;
  readonly taskId: string | null;
  readonly status: string;
  /** The index of its product. */
  readonly product: number;
  readonly modelId: string | null;
  readonly modelName: string | null;
  readonly subtype: string | null;
  readonly style: string | null;
  readonly background: string;
  readonly angleShot: string;
  /** Why there is no image. */
  readonly reason: string | null;
  /** The name of the saved file. */
  readonly file: string | null;
  /** The index of its output among the images. */
  readonly image: number | null;
}
