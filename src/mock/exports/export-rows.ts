import { imageExtensions, safeFilename } from "../../contract/image-file.ts";
import type { ExportAsset, ExportRow } from "../../contract/resources/exports.ts";
import type { AssetRole } from "../../contract/value-sets.ts";
import { hasOwnVersion } from "../images/pictures.ts";
import { signedPaths } from "../images/signed-urls.ts";
import type { Organization } from "../store/organization.ts";
import type { ExportedProduct, ImageRecord } from "../store/records.ts";
import type { World } from "../world/world.ts";

interface HeldImage {
  readonly image: ImageRecord;
  /** Null for a generated image. */
  readonly orientation: string | null;
  readonly filename: string;
}

/**
 * Every image of a product: its photos in the order attached (`listedPhotos`), then its generated images,
 * oldest first. Names do not depend on `roles`.
 */
export function heldImages(
  organization: Organization,
  product: ExportedProduct,
  roles: readonly AssetRole[] | null,
): HeldImage[] {
  const names = new Filenames();
  const held: HeldImage[] = [];
  const hold = (id: string, orientation: string | null) => {
    const image = organization.images.get(id);
    if (image === undefined) return;
    const filename = names.unused(
      product.reference,
      nameEnding(image, orientation),
      imageExtensions[image.mime_type],
    );
    if (roles === null || (roles as readonly string[]).includes(toRole(image)))
      held.push({ image, orientation, filename });
  };
  for (const { id, orientation } of product.images) hold(id, orientation);
  for (const id of product.generations) hold(id, null);
  return held;
}

/** The row of a product (ExportRow), signed at `signedAt`. A deleted product has no assets. */
export function exportRow(
  world: World,
  organization: Organization,
  product: ExportedProduct & { readonly deleted_at?: string | null },
  roles: readonly AssetRole[] | null,
  signedAt: number,
): ExportRow {
  const { id, reference, name, sex, deleted_at = null } = product;
  const held = deleted_at === null ? heldImages(organization, product, roles) : [];
  return {
    product: { id, reference, name, sex, deleted_at },
    assets: held.map((image) => toAsset(world, image, signedAt)),
  };
}

const toRole = ({ generation }: ImageRecord): string => generation?.role ?? "source";

/** The naming template: reference and orientation, or reference, role, angle shot and number of the edit. */
function nameEnding({ generation, edit_number }: ImageRecord, orientation: string | null): string {
  if (generation === null) return `_${orientation}`;
  const edit = edit_number === undefined ? "" : `_edit${edit_number}`;
  // Custom angle shots have no maximum length.
  return `_${generation.role}_${generation.angle_shot.slice(0, 60)}${edit}`;
}

/** An image as an export lists it, signed at `signedAt`. */
export function toAsset(
  world: World,
  { image, orientation, filename }: HeldImage,
  signedAt: number,
): ExportAsset {
  const { id, mime_type, width, height, created_at, generation, watermarked = false } = image;
  const path = hasOwnVersion(image) ? signedPaths.asset(id) : signedPaths.image(id);
  return {
    id,
    role: toRole(image),
    ...world.sign(path, signedAt),
    mime_type,
    width,
    height,
    ai_generated: generation !== null,
    watermarked,
    derived: image.edit_number !== undefined,
    created_at,
    task_id: generation?.task_id ?? null,
    attributes: toAttributes(image, orientation),
    also_features: [...(generation?.also_features ?? [])],
    suggested_filename: filename,
  };
}

function toAttributes(image: ImageRecord, orientation: string | null): ExportAsset["attributes"] {
  const { generation, edit_number, attributes } = image;
  if (generation === null) return { orientation: orientation!, ...attributes };
  const { angle_shot, background, model_id } = generation;
  return {
    angle_shot,
    background,
    ...(model_id !== null && { model_id }),
    ...(edit_number !== undefined && { edit_number }),
    ...attributes,
  };
}

/** The names in one folder, unique even on a case-insensitive file system. */
export class Filenames {
  /** Number of requests for each name. */
  readonly #asked = new Map<string, number>();

  /** A safe name; a repeated one gets a number: `stem` + `ending` + `_2` + `.jpg`. */
  unused(stem: string, ending: string, extension: string): string {
    const plain = safeFilename(stem, ending + extension);
    let name = plain;
    while (this.#asked.has(folded(name))) {
      const count = this.#asked.get(folded(plain))! + 1;
      this.#asked.set(folded(plain), count);
      name = safeFilename(stem, `${ending}_${count}${extension}`);
    }
    this.#asked.set(folded(name), 1);
    return name;
  }
}

const folded = (name: string): string => name.toUpperCase();
