import * as z from "zod";
import { canonicalReference, isLongerThan } from "../import-row.ts";
import { limits, ulidPattern } from "../limits.ts";
import { passedOnList, reliedOn } from "../response-values.ts";
import { sexes } from "../value-sets.ts";

/** A 26-character Crockford base32 ULID. */
export const Ulid = reliedOn(z.string().regex(ulidPattern, "must be an ID of 26 characters"));

/** RFC 3339. The service writes UTC and accepts an offset in requests. */
export const Timestamp = z.iso.datetime({ offset: true });

/** Replaces a leap second at the end of a month (RFC 3339, 5.7): `Date` has none. */
function withoutLeapSecond(text: string): string {
  const before = text.replace(/(:\d\d):60(?:\.\d+)?(?=[Z+-])/, "$1:59");
  if (before === text) return text;
  const next = new Date(Date.parse(before) + 1_000);
  return next.getTime() % 86_400_000 === 0 && next.getUTCDate() === 1 ? next.toISOString() : text;
}

/** A timestamp in a query, where an unescaped `+` is a space. Lower case is allowed (RFC 3339, 5.6). */
export const QueryTimestamp = z
  .string()
  .refine((text) => !/:\d\d(?:\.\d+)? \d\d:\d\d$/.test(text), {
    error: "must not have a space: write the + of an offset as %2B",
    abort: true,
  })
  .transform((text) => withoutLeapSecond(text.toUpperCase()))
  .pipe(z.iso.datetime({ offset: true, error: "must be a time such as 2026-01-05T09:00:00Z" }))
  .meta({ format: "date-time" });

/** A URL from the service (signed, or a preview); the client follows it unchanged. */
export const Url = z.url();

/** A URL that the program downloads. */
export const DownloadUrl = reliedOn(z.url());

/** An integer that the program calculates with. */
export const Count = reliedOn(z.int());

const text = (field: string, max: number, min = 0) =>
  z
    .string()
    .refine((value) => value.trim().length >= min, `${field} must not be empty`)
    .refine((value) => !isLongerThan(value, max), `${field} must have at most ${max} characters`)
    .meta({ minLength: min, maxLength: max });

/** The reference of an import row: trimmed, then 1 to 100 characters. */
export const Reference = z
  .string()
  .transform(canonicalReference)
  .pipe(text("reference", limits.referenceLength.max, limits.referenceLength.min));
export const Name = text("name", limits.nameLength.max, limits.nameLength.min);
export const Description = text("description", limits.descriptionLength.max);

/** Text that is not empty. The specification limits these fields in imports only; the limits are assumed. */
const productText = (field: string) =>
  z
    .string()
    .refine((value) => value.trim() !== "", `${field} must not be empty`)
    .meta({ minLength: 1, "x-assumed": true });

export const ProductReference = z
  .string()
  .transform(canonicalReference)
  .pipe(productText("reference"))
  .meta({ "x-assumed": true });
export const ProductName = productText("name");
export const ProductDescription = z.string().meta({ "x-assumed": true });
export const Sex = z.enum(sexes);

/** An integer in a query string: digits only, within the bounds. The typed client passes a number. */
const queryInteger = (min: number, max: number) =>
  z
    .union([z.int(), z.string().regex(/^\d{1,9}$/, "must be a whole number")])
    .transform(Number)
    .pipe(z.int().min(min, `must be at least ${min}`).max(max, `must be at most ${max}`));

/** The parameters of every list (Endpoints); `cursor` comes from `next_cursor`. */
export const pageQuery = {
  limit: queryInteger(limits.page.min, limits.page.max).default(limits.page.default),
  cursor: z.string().optional(),
};

/** The envelope of every list response. */
export const listSchema = <Item extends z.ZodType>(item: Item) =>
  z.looseObject({
    data: reliedOn(z.array(item)),
    next_cursor: reliedOn(z.string()).nullable(),
    has_more: reliedOn(z.boolean()),
  });

/** The same for a list whose entries are passed on unchecked. */
export const shownListSchema = <Item extends z.ZodType>(item: Item) => {
  const list = listSchema(item);
  passedOnList(list.shape.data);
  return list;
};
