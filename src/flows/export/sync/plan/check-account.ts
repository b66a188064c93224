import type { Client } from "../../../../client/client.ts";
import { CatError } from "../../../../errors.ts";
import { mayNotRead, orNull } from "../../../service-errors.ts";
import type { MirrorIndex } from "../index/mirror-index.ts";
import type { MirrorState } from "../index/mirror-state.ts";

interface AccountDeps {
  readonly client: Pick<Client, "products">;
  readonly signal: AbortSignal;
  readonly folder: string;
  /** A digest of the API key. */
  readonly keyFingerprint: string;
  /** `--same-organization` */
  readonly sameOrganization: boolean;
}

/**
 * A mirror belongs to an organization: another one's key would see an empty catalogue, and move the mark. A key that
 * was not used before, or is the first one whose digest is kept, must see a product of the mirror: the newest or the
 * oldest one that was not removed. Throws a CatError of type conflict (exit 6) otherwise.
 */
export async function checkAccount(index: MirrorIndex, state: MirrorState, deps: AccountDeps): Promise<void> {
  const { client, signal, folder, keyFingerprint, sameOrganization } = deps;
  if (state.key === keyFingerprint || sameOrganization) return;
  const all = index.products();
  if (all.length === 0) return;
  // Products with images that the catalogue still had in the last run.
  const current = all.filter((id) =>
    [...index.ofProduct(id).values()].some(({ removed }) => removed !== true),
  );
  const ids = current.length > 0 ? current : all;
  let isCertain = true;
  for (const product_id of new Set([ids.at(-1)!, ids[0]!])) {
    try {
      if ((await orNull(client.products.get({ product_id }, { signal }))) !== null) return;
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
  throw new CatError(`${folder} ${was} mirrored with another API key, ${why}`, {
    type: "conflict",
    code: "another_key",
    hint: "If both keys belong to one organization, add --same-organization. If not, choose another folder.",
  });
}
