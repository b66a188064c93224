// Checks before a mirror is compared with the catalogue: of its account, its times and its files.

import pLimit from "p-limit";
import { CatError } from "../../../errors.ts";
import { OutputError } from "../../files/output-error.ts";
import { mayNotRead, orNull } from "../../service-errors.ts";
import { isIntact } from "./mirror.ts";
import type { MirrorEntry } from "./mirror-entry.ts";
import type { MirrorState } from "./mirror-state.ts";
import { toFailure } from "./result.ts";
import type { SyncRun } from "./sync-run.ts";

/**
 * A mirror belongs to an organization: another one's key would see an empty catalogue, and move the mark. A key that
 * was not used before, or is the first one whose digest is kept, must see a product of the mirror: the newest or the
 * oldest one that was not removed. Throws a CatError of type conflict (exit 6) otherwise.
 */
export async function checkAccount(
  state: MirrorState,
  { input, tools, client, mirror }: SyncRun,
): Promise<void> {
  if (state.key === tools.keyFingerprint || input.sameOrganization) return;
  const ids = mirror.index.outermostProducts();
  if (ids.length === 0) return;
  let isCertain = true;
  for (const product_id of ids) {
    try {
      if ((await orNull(client.products.get({ product_id }, { signal: tools.signal }))) !== null) return;
    } catch (error) {
      if (!mayNotRead(error)) throw error;
      isCertain = false;
    }
  }
  const why = isCertain
    ? "and this one does not see its products"
    : "and this one lacks the scope products:read to compare their products";
  // Earlier versions of this program kept no digest of the key.
  const was = state.key === undefined ? "may have been" : "was";
  throw new CatError(`${input.folder} ${was} mirrored with another API key, ${why}`, {
    type: "conflict",
    code: "another_key",
    hint: "If both keys belong to one organization, add --same-organization. If not, choose another folder.",
  });
}

/** Files that are hashed at once: reading one overlaps with hashing another. */
const filesAtOnce = 8;

/**
 * Hashes every file again, and marks the entries of those that are missing or differ; whether there are any. A file that
 * cannot be read fails, and stays as it is.
 */
export async function verifyFiles({ tools, mirror, counts }: SyncRun): Promise<boolean> {
  const { index, store } = mirror;
  const total = index.present;
  let done = 0;
  let hasDamaged = false;
  const verify = async (entry: MirrorEntry): Promise<void> => {
    if (entry.removed === true) return;
    tools.signal.throwIfAborted();
    try {
      if (!(await isIntact(store, entry))) {
        index.set({ ...entry, damaged: true });
        hasDamaged = true;
      }
    } catch (error) {
      if (!(error instanceof OutputError) || error.code !== "file_not_readable") throw error;
      counts.fail(toFailure(entry, error), true);
      tools.onFailed(entry, error);
    }
    tools.onProgress({ step: "verifying", done: ++done, total });
  };
  const limit = pLimit(filesAtOnce);
  for (const page of index.pages()) await limit.map(page, verify);
  return hasDamaged;
}
