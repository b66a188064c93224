import { safeFilename } from "../../../contract/image-file.ts";
import type { imageTypes } from "../../../contract/value-sets.ts";
import type { Generation } from "../generation.ts";

const extensions: Readonly<Record<(typeof imageTypes)[number], string>> = {
  "image/jpeg": ".jpg",
  "image/png": ".png",
  "image/webp": ".webp",
};

/** The extension of an image file, by the type of its bytes. */
export const extensionOf = (type: (typeof imageTypes)[number]): string => extensions[type];

/** Every extension that an output may have. */
export const outputExtensions: readonly string[] = Object.values(extensions);

/** So many characters of a task's ID tell it from every other task of a folder: they are random, or count up. */
const idLength = 10;

/** What an output is named after; a task that this machine did not start is known by its product alone. */
export type NamedOutput = Pick<Generation, "productId" | "productReference"> &
  Partial<Pick<Generation, "angleShot" | "background" | "modelName" | "modelId" | "subtype" | "style">>;

/**
 * The file name of a task's output: reference, angle, background and model, and the end of the task's ID, so that no two
 * outputs share a name and the same task always has the same one, also where case or the form of accents does not count.
 */
export function outputName(named: NamedOutput, taskId: string, extension: string): string {
  const { productReference, productId, angleShot, background, modelName, modelId, subtype, style } = named;
  const parts = [
    productReference ?? productId,
    angleShot,
    background?.replace("#", ""),
    style ?? subtype,
    modelName ?? modelId,
  ];
  const stem = parts
    .filter((part) => part !== null && part !== undefined && part !== "")
    .map((part) => part!.replace(/[\s%&#+;,'`$!~(){}[\]^=@]+/g, "-"))
    .join("_")
    // A shell reads a leading dash as a flag.
    .replace(/^-+(?=.)/, "_");
  return safeFilename(stem, `_${taskId.slice(-idLength).toLowerCase()}${extension}`);
}
