import type { MockState } from "../../src/mock/index.ts";
import type { Fault } from "../played.ts";
import { contentSource } from "./files.ts";
import type { ProductFacts } from "./model.ts";

/** The problems of a run, each with a sentence. */
export const faultKinds = [
  "row lost",
  "row doubled",
  "photo lost",
  "photo doubled",
  "overwritten",
  "not resumable",
  "wrong summary",
  "wrong failed file",
  "wrong results file",
  "broken state",
] as const;
export type ImportFault = Fault<(typeof faultKinds)[number]>;

/** The products of the service. */
export function productsOf({ organizations }: MockState): Map<string, ProductFacts> {
  const { products, images } = organizations.main;
  const sources = new Map(
    images.map(({ id, bytes, seed }) => [
      id,
      bytes === null ? seed : contentSource(Buffer.from(bytes, "base64")),
    ]),
  );
  const live = products.filter(({ deleted_at }) => deleted_at === null);
  return new Map(
    live.map(({ reference, name, description, sex, images: photos }) => [
      reference!,
      { name, description, sex, sources: photos.map(({ id }) => sources.get(id)!) },
    ]),
  );
}

/** The IDs of all products, by reference. */
export const productIds = ({ organizations }: MockState): Map<string, string> =>
  new Map(organizations.main.products.map(({ reference, id }) => [reference!, id]));

/** How often each reference was submitted in imports other than `before`. */
export function submissionsOf(
  { organizations }: MockState,
  before: ReadonlySet<string>,
): Map<string, number> {
  const submissions = new Map<string, number>();
  for (const { id, rows } of organizations.main.imports) {
    if (before.has(id)) continue;
    for (const { result } of rows)
      submissions.set(result.reference, (submissions.get(result.reference) ?? 0) + 1);
  }
  return submissions;
}

/** The differences between the service and the result of one uninterrupted run. */
export function differences(
  expected: ReadonlyMap<string, ProductFacts>,
  found: ReadonlyMap<string, ProductFacts>,
): ImportFault[] {
  const faults: ImportFault[] = [];
  for (const [reference, want] of expected) {
    const product = found.get(reference);
    if (product === undefined) {
      faults.push({ kind: "row lost", what: `product ${reference} is missing` });
      continue;
    }
    for (const field of ["name", "description", "sex"] as const) {
      if (product[field] === want[field]) continue;
      const [is, should] = [product[field], want[field]].map((value) => JSON.stringify(value));
      faults.push({ kind: "row lost", what: `${reference} has the ${field} ${is} instead of ${should}` });
    }
    faults.push(...photoFaults(reference, want.sources, product.sources));
  }
  for (const reference of found.keys()) {
    if (!expected.has(reference))
      faults.push({ kind: "row doubled", what: `unexpected product ${reference}` });
  }
  return faults;
}

function photoFaults(
  reference: string,
  expected: readonly string[],
  found: readonly string[],
): ImportFault[] {
  const faults: ImportFault[] = [];
  for (const source of new Set([...expected, ...found])) {
    const count = (list: readonly string[]) => list.filter((one) => one === source).length;
    const [want, is] = [count(expected), count(found)];
    if (is === want) continue;
    const what = `${reference} has ${source} ${is} times instead of ${want}`;
    faults.push({ kind: is < want ? "photo lost" : "photo doubled", what });
  }
  return faults;
}
