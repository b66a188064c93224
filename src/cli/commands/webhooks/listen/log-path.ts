import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { App } from "../../../app/app.ts";
import { profileStatePath } from "../../../app/open-profile-state.ts";
import { UsageError } from "../../../context/errors.ts";
import { ownFiles } from "../../../files/own-files.ts";
import { standingOf } from "../../../files/standing.ts";

/**
 * The absolute path of the event log: `--log FILE`, else `PROFILE.events.ndjson` next to the state of the profile,
 * else, with `--mock`, a file that is removed at the end. Throws UsageError for another file of this program.
 */
export async function eventLogPath(app: App, file: string | undefined): Promise<string> {
  const usual = (await profileStatePath(app))?.replace(/\.db$/, ".events.ndjson") ?? null;
  if (file !== undefined) {
    const path = resolve(app.context.cwd, file);
    if (path === usual || !(await (await ownFiles(app, undefined))(await standingOf(path)))) return path;
    throw new UsageError(`cannot use --log ${file}: it is a file of this program`, {
      param: "--log",
      hint: "Choose another file, for example --log events.ndjson.",
    });
  }
  if (usual === null) {
    const folder = await mkdtemp(join(tmpdir(), "catalogue-"));
    app.onClose(() => rm(folder, { recursive: true, force: true }));
    return join(folder, "events.ndjson");
  }
  // Creates the folder, closed to other users.
  await app.state();
  return usual;
}
