import { counted } from "../../../flows/words.ts";

/** How many images a folder got. */
export const savedLine = (saved: number, folder: string): string =>
  saved === 0
    ? `No image was saved in ${folder}.`
    : `Saved ${counted(saved, "image")} in ${folder} (listed in results.csv).`;
