import type { OrganizationName } from "../rules/api-keys.ts";
import { IdempotencyKeys } from "../rules/idempotency.ts";
import { RateWindow } from "../rules/rate-limit.ts";
import { AttachedGenerations, Catalogue } from "./catalogue.ts";
import type { ExportRecord, ImageRecord, ImportJob, ModelRecord } from "./records.ts";
import { Tasks } from "./tasks.ts";
import { UnlinkedImages, type Wake } from "./unlinked-images.ts";
import { Webhooks } from "./webhooks.ts";

/** All data of one organization; no other organization can see it (What the service does). */
export class Organization {
  readonly name: OrganizationName;
  readonly products = new Catalogue();
  readonly images = new Map<string, ImageRecord>();
  readonly attached = new AttachedGenerations();
  readonly imports = new Map<string, ImportJob>();
  readonly webhooks = new Webhooks();
  readonly exports = new Map<string, ExportRecord>();
  readonly tasks = new Tasks();
  /** Models of the organization, and the curated ones that a test has set. */
  readonly models: ModelRecord[] = [];
  /** Remaining credits, one per generation; null for no limit. */
  credits: number | null = null;
  readonly keys = new IdempotencyKeys();
  readonly rate = new RateWindow();
  /** Images that may be linked to no product or task. */
  readonly unlinked: UnlinkedImages;

  /** `wake` calls a function at a time of the clock. */
  constructor(name: OrganizationName, wake: Wake) {
    this.name = name;
    this.unlinked = new UnlinkedImages(this, wake);
  }
}

/** `looks` are body type, age bracket, ethnicity, hair color and eye color. */
function curated(id: string, name: string, sex: "male" | "female" | "other", looks: string): ModelRecord {
  const [body_type = null, age_bracket = null, ethnicity = null, hair_color = null, eye_color = null] =
    looks.split(" ");
  return { id, name, is_public: true, sex, body_type, age_bracket, ethnicity, hair_color, eye_color };
}

/** The models that every organization can use; their IDs are short (Model). */
export const curatedModels: readonly ModelRecord[] = [
  curated("mdl_001", "Amara", "female", "slim 18-24 black black brown"),
  curated("mdl_002", "Bastian", "male", "athletic 25-34 white blond blue"),
  curated("mdl_003", "Chiyo", "female", "average 25-34 asian black brown"),
  curated("mdl_004", "Diego", "male", "average 35-44 hispanic brown brown"),
  curated("mdl_005", "Esra", "female", "curvy 25-34 middle-eastern brown hazel"),
  curated("mdl_006", "Femi", "male", "slim 18-24 black black brown"),
  curated("mdl_007", "Greta", "female", "average 45-54 white grey green"),
  curated("mdl_008", "Haruto", "male", "slim 25-34 asian black brown"),
  curated("mdl_009", "Ines", "female", "athletic 35-44 hispanic brown brown"),
  curated("mdl_010", "Jules", "other", "slim 25-34 white red grey"),
  curated("mdl_011", "Kiran", "other", "average 18-24 south-asian black brown"),
  curated("mdl_012", "Leila", "female", "plus 35-44 mixed black hazel"),
];

/** The first place of a curated model: places are keys of cursors, and models of the organization come first. */
const firstCurated = 1_000_000_000;

/** All models of an organization with their places, which never change. */
export function modelsOf({ models }: Organization): { model: ModelRecord; place: number }[] {
  const own = models.filter(({ is_public }) => !is_public);
  const set = models.filter(({ is_public }) => is_public);
  const listed = curatedModels.map((curated) => set.find(({ id }) => id === curated.id) ?? curated);
  const added = set.filter((one) => !listed.includes(one));
  return [
    ...own.map((model, place) => ({ model, place })),
    ...[...listed, ...added].map((model, at) => ({ model, place: firstCurated + at })),
  ];
}

/** The model with that ID: one of the organization or a curated one. */
export const findModel = (organization: Organization, id: string): ModelRecord | undefined =>
  organization.models.find((own) => own.id === id) ?? curatedModels.find((curated) => curated.id === id);
