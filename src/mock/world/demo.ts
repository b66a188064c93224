import type { sexes } from "../../contract/value-sets.ts";
import { drawnSize, type Subject } from "../../mock-page/drawing/garments.ts";
import type { Ids, Random } from "../seed/seed.ts";
import type { Organization } from "../store/organization.ts";
import type { ModelRecord } from "../store/records.ts";

type Sex = (typeof sexes)[number];

interface Kind {
  readonly prefix: string;
  readonly noun: string;
  readonly subject: Subject;
  readonly sexes: readonly (Sex | null)[];
}

const everyone: readonly (Sex | null)[] = ["female", "male", "other", "kid", null];
const kinds: readonly Kind[] = [
  { prefix: "DRESS", noun: "dress", subject: "dress", sexes: ["female", "female", "kid"] },
  { prefix: "SHIRT", noun: "shirt", subject: "top", sexes: ["male", "female"] },
  { prefix: "TEE", noun: "T-shirt", subject: "top", sexes: everyone },
  { prefix: "KNIT", noun: "jumper", subject: "knit", sexes: everyone },
  { prefix: "COAT", noun: "coat", subject: "coat", sexes: ["female", "male"] },
  { prefix: "JACKET", noun: "jacket", subject: "coat", sexes: ["female", "male", "kid"] },
  { prefix: "TROUSER", noun: "trousers", subject: "trousers", sexes: everyone },
  { prefix: "JEANS", noun: "jeans", subject: "trousers", sexes: everyone },
  { prefix: "SKIRT", noun: "skirt", subject: "skirt", sexes: ["female", "kid"] },
  { prefix: "SHOE", noun: "shoe", subject: "shoe", sexes: ["female", "male"] },
  { prefix: "HAT", noun: "hat", subject: "hat", sexes: [null, "other"] },
  { prefix: "BAG", noun: "bag", subject: "bag", sexes: [null, "female"] },
];
const cloths = "linen cotton wool silk denim corduroy jersey velvet cashmere twill".split(" ");
const colors = "ivory sand navy black olive rust burgundy sage sky rose charcoal".split(" ");
const cuts = ["Slim", "Relaxed", "Cropped", "Oversized", "Classic", "Belted", "Pleated", "Quilted"];

/** The names by noun. Most mocks need none: creating all takes as long as starting one. */
const created = new Map<string, readonly string[]>();

/** All names of a noun, created once, so that a hundred thousand products share a few strings. */
function productNames(noun: string): readonly string[] {
  const names =
    created.get(noun) ??
    cuts.flatMap((cut) =>
      cloths.flatMap((cloth) => colors.map((color) => `${cut} ${cloth} ${noun}, ${color}`)),
    );
  created.set(noun, names);
  return names;
}
const descriptions = [
  null,
  "Cut from a cloth woven in Portugal, washed for a soft hand.",
  "A piece to wear from the first day of the season to the last.",
  "Made in small runs; the color may vary slightly from lot to lot.",
];
const views = [["front"], ["front", "back"], ["front", "back", "detail"]] as const;
const types = ["image/jpeg", "image/jpeg", "image/png", "image/webp"] as const;
/** The subjects of photos that do not show the front, as texts that all photos share. */
const sides = Object.fromEntries(
  kinds.map(({ subject }) => [subject, { back: `${subject} back`, detail: `${subject} detail` }]),
) as Readonly<Record<Subject, Readonly<Record<"back" | "detail", string>>>>;
const minuteMs = 60_000;

/** Adds `count` plausible products to an organization, the last one created a minute before `until`. */
export function addDemoProducts(
  organization: Organization,
  ids: Ids,
  random: Random,
  count: number,
  until: number,
): void {
  const made = kinds.map(() => 0);
  for (let remaining = count; remaining > 0; remaining--) {
    const at = random.below(kinds.length);
    const kind = kinds[at]!;
    const number = ++made[at]!;
    const created_at = new Date(until - remaining * minuteMs).toISOString();
    const shots = random
      .pick(views)
      .map((orientation) => ({ orientation, id: ids.next(), mime_type: random.pick(types) }));
    const product_id = ids.next();
    const name = random.pick(productNames(kind.noun));
    for (const { orientation, id, mime_type } of shots)
      organization.images.set(id, {
        id,
        mime_type,
        created_at,
        // No spread: an object with a spread in the middle takes a third more memory.
        width: drawnSize.width,
        height: drawnSize.height,
        bytes: null,
        subject: orientation === "front" ? kind.subject : sides[kind.subject][orientation],
        seed: id,
        // All products of a name share its text.
        words: name,
        generation: null,
      });
    organization.products.add({
      id: product_id,
      name,
      reference: `${kind.prefix}-${String(number).padStart(4, "0")}`,
      description: random.pick(descriptions),
      sex: random.pick(kind.sexes),
      images: shots.map(({ id, orientation }) => ({ id, orientation, origin: "user" })),
      created_at,
      updated_at: created_at,
    });
  }
}

/** Adds two models of the organization; their IDs are ULIDs (Model). */
export function addDemoModels(organization: Organization, ids: Ids): void {
  const own = (name: string, sex: "male" | "female", more: Partial<ModelRecord>): ModelRecord => ({
    id: ids.next(),
    name,
    is_public: false,
    sex,
    body_type: null,
    age_bracket: null,
    ethnicity: null,
    hair_color: null,
    eye_color: null,
    ...more,
  });
  organization.models.push(
    own("House model A", "female", { body_type: "average", age_bracket: "25-34", hair_color: "brown" }),
    own("House model B", "male", { age_bracket: "35-44", eye_color: "green" }),
  );
}
