import type { Model } from "../../contract/resources/tasks.ts";
import { signedPaths } from "../images/signed-urls.ts";
import type { Handlers } from "../requests/pipeline.ts";
import { listModels } from "../store/organization.ts";
import type { ModelRecord } from "../store/records.ts";
import type { World } from "../world/world.ts";

/** Models: those of the organization first, then the curated ones of the service. */
export const models = {
  list({ world, organization, query }) {
    const { is_public } = query;
    const list = `${organization.name} models.list ${is_public ?? "all"}`;
    const matches = (after: number | null) =>
      listModels(organization)
        .filter(({ place }) => after === null || place > after)
        .filter(({ model }) => is_public === undefined || model.is_public === is_public);
    const show = ({ model }: { model: ModelRecord }) => shownModel(world, model);
    return { body: world.cursors.page(list, query, matches, ({ place }) => place, show) };
  },
} satisfies Handlers["models"];

/** The model as the service shows it, with a newly signed preview on every read. */
export function shownModel(world: World, { has_preview = true, ...model }: ModelRecord): Model {
  if (!has_preview) return { ...model, preview_url: null, preview_url_expires_at: null };
  const path = signedPaths.modelPreview(model.id);
  const { url, url_expires_at } = world.sign(path);
  return { ...model, preview_url: url, preview_url_expires_at: url_expires_at };
}
