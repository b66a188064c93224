import { randomUUID } from "node:crypto";
import type { CatError } from "../../../errors.ts";
import { LocalFolder } from "../../../flows/export/sync/local-folder.ts";
import { mirrorFiles } from "../../../flows/export/sync/mirror-state.ts";
import { syncCatalogue } from "../../../flows/export/sync/sync.ts";
import type { FailedAsset } from "../../../flows/export/sync/sync-run.ts";
import type { App } from "../../app/app.ts";
import { serviceOf } from "../../app/memory.ts";
import { runFlow } from "../../app/run-flow.ts";
import { newRunId } from "../../app/run-id.ts";
import { LearnedValues } from "../../completion/learned-values.ts";
import { withRoleHint } from "./role-hint.ts";
import type { SyncFlags } from "./sync-flags.ts";
import { mirrorFolder } from "./sync-folder.ts";
import { reportSync } from "./sync-report.ts";

/** Failures that are listed while the command runs. */
const mostListed = 20;

/** Brings a mirror up to date, and reports it. Throws what stopped it. */
export async function runMirror(app: App, flags: SyncFlags): Promise<void> {
  const { clock, interrupt, pid } = app.context;
  const folder = await mirrorFolder(app, flags.folder);
  // The address and the key of the in-process mock are others for each command.
  const { baseUrl, keyFingerprint } = app.globals.mock
    ? { baseUrl: "--mock", keyFingerprint: "--mock" }
    : await serviceOf(app);
  let listed = 0;
  const learned = new LearnedValues();
  const outcome = await runFlow(app, ({ onProgress, onNote }) =>
    syncCatalogue(flags, {
      ...{ clock, baseUrl, onProgress, onNote, signal: interrupt, keyFingerprint },
      onLarge: () => app.context.keepHeapSmall?.(),
      store: new LocalFolder(folder, mirrorFiles(flags.shard).work),
      client: () => app.client(),
      onRows: (rows) => learned.addRows(rows),
      holder: { pid, since: new Date(clock.now()).toISOString() },
      runId: newRunId(clock.now(), randomUUID()),
      onFailed: (asset, error) => {
        if (listed++ < mostListed) onNote(failureLine(asset, error));
      },
    }),
  );
  await learned.keep(app);
  await reportSync(app, flags, { ...outcome, stopped: withRoleHint(outcome.stopped, flags.roles) });
}

const failureLine = ({ reference, product_id, asset_id }: FailedAsset, { message }: CatError): string =>
  `${reference ?? product_id}  ${asset_id}  ${message}`;
