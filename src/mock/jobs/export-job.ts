import type { AssetRole, exportFormats } from "../../contract/value-sets.ts";
import { heldImages } from "../exports/export-rows.ts";
import type { ExportRecord } from "../store/export-record.ts";
import type { Organization } from "../store/organization.ts";
import type { ExportedProduct } from "../store/product-record.ts";
import type { World } from "../world/world.ts";

/** Duration of a ZIP job at speed 1: a fixed part, and a part per image. */
const beginningMs = 1_000;
const assetMs = 5;

/** Freezes a selection (Exports). A manifest is completed immediately; a ZIP takes time on the clock. */
export function startExport(
  world: World,
  organization: Organization,
  products: readonly ExportedProduct[],
  options: { format: (typeof exportFormats)[number]; roles: readonly AssetRole[] | null },
): ExportRecord {
  const { format, roles } = options;
  const created_at = world.timestamp();
  let total_assets = 0;
  for (const product of products) total_assets += heldImages(organization, product, roles).length;
  const isWritten = format === "manifest";
  const job: ExportRecord = {
    id: world.ids.next(),
    format,
    status: isWritten ? "completed" : "processing",
    total_assets,
    error: null,
    created_at,
    finished_at: isWritten ? created_at : null,
    ready_at:
      world.clock.now() + (isWritten ? 0 : (beginningMs + total_assets * assetMs) / world.options.speed),
    roles,
    products,
  };
  organization.exports.set(job.id, job);
  continueExport(world, organization, job);
  return job;
}

/** Schedules the end of a job in progress, also for a job restored from a snapshot. */
export function continueExport(world: World, organization: Organization, job: ExportRecord): void {
  if (job.status !== "processing") return;
  world.schedule(Math.ceil(job.ready_at), () => {
    const failure = world.faults.ofJob("export");
    job.error = failure && { ...failure };
    job.status = job.error === null ? "completed" : "failed";
    job.finished_at = world.timestamp();
    // Only a job that was processing has events (States, Export job); a manifest never is.
    world.announce(organization, job.status === "failed" ? "export.failed" : "export.completed", job);
  });
}
