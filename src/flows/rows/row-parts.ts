import type { FieldProblem, InputRow, MergedContent } from "./row-form.ts";

const imagePath = /^images\[(\d+)\]/;

/** The row of a merged one, by its index, that a path of the merged row is about. */
export function ownPart({ images, rows }: NonNullable<InputRow["merged"]>, path: string | undefined): number {
  const [, image] = imagePath.exec(path ?? "") ?? [];
  const index =
    image === undefined
      ? rows.findIndex(({ content }) => hasValue((content as Record<string, unknown>)[path ?? ""]))
      : images.findIndex((own) => own.includes(Number(image)));
  return Math.max(0, index);
}

/** Whether a field has a value, which is not only spaces. */
export const hasValue = (value: unknown): boolean =>
  value !== undefined && value !== null && (typeof value !== "string" || value.trim() !== "");

/** The problem in terms of a row with these images of the merged one. */
export function inPart(problem: FieldProblem, images: readonly number[]): FieldProblem {
  const [path, image] = imagePath.exec(problem.param ?? "") ?? [];
  const own = image === undefined ? -1 : images.indexOf(Number(image));
  if (path === undefined || own === -1) return problem;
  const named = (text: string) => text.replaceAll(path, `images[${own}]`);
  return { ...problem, param: named(problem.param!), message: named(problem.message) };
}

/** A row as the file has it, and what of a merged row is in it. */
interface OwnRow {
  readonly row: InputRow;
  done(done: ReadonlySet<number>): ReadonlySet<number>;
  /** These paths, without images of other rows. */
  paths(paths: readonly string[]): readonly string[];
}

const whole = (row: InputRow): OwnRow => ({ row, done: (done) => done, paths: (paths) => paths });

const ofMerged = (row: InputRow, images: MergedContent["images"][number]): OwnRow => ({
  row,
  done: (done) => new Set(images.flatMap((image, own) => (done.has(image) ? [own] : []))),
  paths: (paths) =>
    paths.flatMap((param) => {
      const [, image] = imagePath.exec(param) ?? [];
      return image !== undefined && !images.includes(Number(image))
        ? []
        : inPart({ param, code: "", message: "" }, images).param!;
    }),
});

/** The rows of the file that a row is made of, usually itself alone. */
export const rowsOfFile = (row: InputRow): readonly OwnRow[] =>
  row.merged === undefined
    ? [whole(row)]
    : row.merged.rows.map((own, index) => ofMerged(own, row.merged!.images[index]!));
