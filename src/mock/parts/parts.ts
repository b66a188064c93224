import { limits, ulidPattern } from "../../contract/limits.ts";
import type { Model } from "../../contract/resources/tasks.ts";
import { shownModel } from "../routes/models.ts";
import { type ApiKeyState, organizationNames } from "../rules/api-keys.ts";
import { invalid } from "../rules/refusal.ts";
import { findModel } from "../store/organization.ts";
import type { ModelRecord } from "../store/records.ts";
import type { World } from "../world/world.ts";
import type { CrashOrder, KeyOrder, ModelOrder } from "./part-orders.ts";

/** Adds an API key, or changes the given fields of one. */
export function putKey(world: World, key: string, order: KeyOrder): ApiKeyState {
  const known = world.keys.get(key);
  const { organization = "main", scopes = null, expires_at = null } = { ...known, ...order };
  let revoked_at = known?.revoked_at ?? null;
  if (order.revoked === true) revoked_at ??= world.timestamp();
  if (order.revoked === false) revoked_at = null;
  const state = { key, organization, scopes, expires_at, revoked_at };
  world.keys.put(state);
  return state;
}

const unnamed = {
  name: null,
  sex: null,
  body_type: null,
  age_bracket: null,
  ethnicity: null,
  hair_color: null,
  eye_color: null,
} as const;

/** Adds a model, or changes the given fields of one. */
export function putModel(world: World, id: string, { organization = "main", ...order }: ModelOrder): Model {
  const { models } = world.organizations[organization];
  const is_public = !ulidPattern.test(id);
  const isElsewhere = organizationNames.some(
    (name) => name !== organization && world.organizations[name].models.some((model) => model.id === id),
  );
  if (!is_public && isElsewhere)
    throw invalid("this model belongs to the other organization", "organization");
  const known = findModel(world.organizations[organization], id);
  const given = Object.entries(order).filter(([, value]) => value !== undefined);
  const model: ModelRecord = { id, is_public, ...unnamed, ...known, ...Object.fromEntries(given) };
  const at = models.findIndex((one) => one.id === id);
  if (at < 0) models.push(model);
  else models[at] = model;
  return shownModel(world, model);
}

/** Marks an idempotency key as that of a request which has just crashed (Cross-cutting rule 5). */
export function putCrash(world: World, key: string, { organization = "main" }: CrashOrder) {
  if (key.length > limits.idempotencyKeyLength) {
    throw invalid(`an idempotency key has at most ${limits.idempotencyKeyLength} characters`);
  }
  const freeAt = world.organizations[organization].keys.crash(key, world.clock.now());
  return { key, organization, crashed_at: world.timestamp(), free_at: new Date(freeAt).toISOString() };
}
