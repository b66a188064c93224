import * as z from "zod";
import { beautifierStyles } from "../../contract/value-sets.ts";
import { parseJson } from "../../json.ts";
import { subjects } from "./garments.ts";

const Garment = z.strictObject({
  subject: z.enum(subjects),
  /** Determines colors and pattern, as in the photo of the product. */
  seed: z.string(),
});
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
export type Person = z.infer<typeof Person>;

/** The content of a generated image, fixed when the task is accepted. */
export const Scene = z.strictObject({
  garment: Garment,
  reference: z.string(),
  background: z.string(),
  angle_shot: z.string(),
  style: z.enum(beautifierStyles).nullable(),
  /** Null for a product rendered alone. */
  person: Person.nullable(),
  look_at_camera: z.boolean(),
  stylings: z.array(Garment),
  /** The consistency group of the picture; determines hair, pose and plain clothes. */
  group: z.string(),
});
export type Scene = z.infer<typeof Scene>;

/** The `subject` of images whose `seed` is a scene. */
export const sceneSubject = "scene";

export const writeScene = (scene: Scene): string => JSON.stringify(scene);

/** The scene in the `seed` of an image; null if invalid, for example in an edited state file. */
export function readScene(text: string): Scene | null {
  try {
    return Scene.safeParse(parseJson(text)).data ?? null;
  } catch {
    return null;
  }
}
