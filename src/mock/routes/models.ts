import type { Model } from "../../contract/resources/tasks.ts";
import { signedPaths } from "../images/signed-urls.ts";
import type { Handlers } from "../requests/handler.ts";
import { toPage } from "../rules/cursors.ts";
import { curatedModels } from "../store/organization.ts";
import type { ModelRecord } from "../store/records.ts";

/** Models: those of the organization first, then the curated ones of the service. */
export const models = {
  list({ world, organization, query }) {
    const { limit, cursor, is_public } = query;
    const list = `${organization.name} models.list ${is_public ?? "all"}`;
    const all = [...organization.models, ...curatedModels].map((model, index) => ({ model, index }));
    // Models are never deleted, so the position in the combined list works as a key.
    const after = world.cursors.read(list, cursor) ?? -1;
    const found = all.filter(
      ({ model, index }) => index > after && (is_public === undefined || model.is_public === is_public),
    );
    const now = world.clock.now();
    const shown = (model: ModelRecord): Model => {
      const { url, expiresAt } = world.signedUrls.sign(
        world.baseUrl,
        signedPaths.modelPreview(model.id),
        now,
      );
      return { ...model, preview_url: url, preview_url_expires_at: expiresAt };
    };
    const next = (last: { index: number }) => world.cursors.make(list, last.index);
    return { body: toPage(found, limit, ({ model }) => shown(model), next) };
  },
} satisfies Handlers["models"];
