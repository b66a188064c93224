import * as z from "zod";
import { beautifierStyles } from "../../contract/value-sets.ts";
import { subjects } from "./subjects.ts";

const Garment = z.strictObject({
  subject: z.enum(subjects),
  /** Its colours and pattern follow from this, as those of the product's own photo do. */
  seed: z.string(),
});
/** A product as pictures show it. */
export type Garment = z.infer<typeof Garment>;

const Person = z.strictObject({
  id: z.string(),
  name: z.string().nullable(),
  sex: z.string().nullable(),
  body_type: z.string().nullable(),
  age_bracket: z.string().nullable(),
  ethnicity: z.string().nullable(),
  hair_color: z.string().nullable(),
  eye_color: z.string().nullable(),
});
/** A model as pictures show them. */
export type Person = z.infer<typeof Person>;

/** Everything that a generated picture shows, as it was when the task was accepted: the bytes behind an image id never change. */
export const Scene = z.strictObject({
  garment: Garment,
  /** The product's reference, for the caption. */
  reference: z.string(),
  background: z.string(),
  angle_shot: z.string(),
  style: z.enum(beautifierStyles).nullable(),
  /** Null where the product is rendered alone. */
  person: Person.nullable(),
  look_at_camera: z.boolean(),
  /** The styling products, worn beside the garment. */
  stylings: z.array(Garment),
  /** What the pictures of one consistency group share: hair, pose and the plain clothes beside the garment follow from it. */
  group: z.string(),
});
export type Scene = z.infer<typeof Scene>;

/** The `subject` of an image whose `seed` is a scene. */
export const sceneSubject = "scene";

export const writeScene = (scene: Scene): string => JSON.stringify(scene);

/** The scene of an image's `seed`; null when it is none, as in a state that somebody has edited. */
export function readScene(text: string): Scene | null {
  try {
    return Scene.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}
