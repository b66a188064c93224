import type { Client } from "../../../../client/client.ts";
import type { EventLine } from "../../../../flows/listen/log-lines.ts";
import { counted } from "../../../../flows/words.ts";
import { resourceOf } from "./event-words.ts";

/** Fetches the resource of an event and describes it in one line; null for an unknown kind of resource. */
export async function detailsOf(
  client: Client,
  event: EventLine,
  signal: AbortSignal,
): Promise<string | null> {
  const found = resourceOf(event);
  switch (found?.name) {
    case "task": {
      const task = await client.tasks.get({ task_id: found.id }, { signal });
      const what = [task.type, task.subtype, `of product ${task.product_id}`].filter(Boolean).join(" ");
      const { failure_reason: reason, output_image: image } = task;
      if (reason !== null) return `${what}: ${reason.code}, ${reason.message}`;
      return image === null ? what : `${what}: image ${image.id}`;
    }
    case "import": {
      const { counts, mode } = await client.imports.get({ import_id: found.id }, { signal });
      const { total, succeeded, partial, failed } = counts;
      const rows = counted(total ?? succeeded + partial + failed, "row");
      return `${rows} in mode ${mode}: ${succeeded} succeeded, ${partial} partial, ${failed} failed`;
    }
    case "export": {
      const {
        format,
        total_assets: total,
        error,
      } = await client.exports.get({ export_id: found.id }, { signal });
      if (error !== null) return `${format}: ${error.code}, ${error.message}`;
      return `${format} of ${counted(total, "asset")}`;
    }
    default:
      return null;
  }
}
