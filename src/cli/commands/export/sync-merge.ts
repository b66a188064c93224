import { randomUUID } from "node:crypto";
import { LocalFolder } from "../../../flows/export/sync/local-folder.ts";
import { mergeShards, mergeWork } from "../../../flows/export/sync/merge.ts";
import { counted } from "../../../flows/words.ts";
import type { App } from "../../app/app.ts";
import { newRunId } from "../../app/run-id.ts";
import { UsageError } from "../../context/errors.ts";
import type { SyncFlags } from "./sync-flags.ts";
import { existingFolder, mirrorFolder } from "./sync-folder.ts";

/** Joins the indexes of all shards in a folder. */
export async function runMerge(app: App, { folder }: SyncFlags): Promise<void> {
  const { clock, pid } = app.context;
  const path = await mirrorFolder(app, folder);
  if (!(await existingFolder(path))) {
    const hint = "Check the path. The folder has the mirrors of all shards.";
    throw new UsageError(`${app.io.visible(folder)} does not exist`, { param: "DIR", hint });
  }
  const summary = await mergeShards(
    { folder, runId: newRunId(clock.now(), randomUUID()) },
    {
      store: new LocalFolder(path, mergeWork),
      clock,
      holder: { pid, since: new Date(clock.now()).toISOString() },
    },
  );
  if (app.io.json) return app.io.jsonData(summary);
  const { total, index_file } = summary;
  await app.io.note(app.io.visible(`Merged the indexes of ${counted(total, "image")} into ${index_file}.`));
}
