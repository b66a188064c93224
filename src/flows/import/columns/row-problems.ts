import type { LocalPhotos } from "../../photos/local-photos.ts";
import type { InputRow, RowReader } from "../../rows/input-row.ts";
import type { Problem } from "../../rows/problem.ts";
import { localImagesOf } from "./local-images.ts";

/**
 * Everything wrong with a row by itself, its photos on this machine included: a promise only where there are such photos
 * to be looked at, as awaiting each of a million rows would cost more than judging it.
 */
export function rowProblems(
  reader: RowReader,
  row: InputRow,
  photos: Pick<LocalPhotos, "problems">,
): readonly Problem[] | Promise<readonly Problem[]> {
  const problems = reader.problems(row);
  const images = row.fault === undefined ? localImagesOf(row.row) : [];
  if (images.length === 0) return problems;
  return photos
    .problems(images)
    .then((faults) => [...problems, ...faults.map((fault) => reader.photoProblem(row, fault))]);
}
