import type { Model } from "../../contract/resources/tasks.ts";
import { signedPaths } from "../images/signed-urls.ts";
import type { Handlers } from "../requests/pipeline.ts";
import { toPage } from "../rules/cursors.ts";
import { listModels } from "../store/organization.ts";
import type { ModelRecord } from "../store/records.ts";
import type { World } from "../world/world.ts";

/** Models: those of the organization first, then the curated ones of the service. */
export const models = {
  list({ world, organization, query }) {
    const { limit, cursor, is_public } = query;
    const list = `${organization.name} models.list ${is_public ?? "all"}`;
    const all = listModels(organization);
    const after = world.cursors.read(list, cursor) ?? -1;
    const matches = all.filter(
      ({ model, place }) => place > after && (is_public === undefined || model.is_public === is_public),
    );
    const next = (last: { place: number }) => world.cursors.make(list, last.place);
    return { body: toPage(matches, limit, ({ model }) => shownModel(world, model), next) };
  },
} satisfies Handlers["models"];

/** The model as the service shows it, with a newly signed preview on every read. */
export function shownModel(world: World, { has_preview = true, ...model }: ModelRecord): Model {
  if (!has_preview) return { ...model, preview_url: null, preview_url_expires_at: null };
  const path = signedPaths.modelPreview(model.id);
  const { url, url_expires_at } = world.sign(path);
  return { ...model, preview_url: url, preview_url_expires_at: url_expires_at };
}
