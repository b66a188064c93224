import { basename } from "node:path";
import type { Client } from "../../client/client.ts";
import { didYouMean, questionFor } from "../../contract/did-you-mean.ts";
import { type Orientation, orientations } from "../../contract/value-sets.ts";
import { CatError } from "../../errors.ts";
import { LocalPhotos } from "../../flows/photos/local-photos.ts";
import { InputError } from "../../flows/rows/source.ts";
import { type AcceptedReply, carriedOut } from "../../flows/service-errors.ts";
import { UsageError } from "../context/errors.ts";
import { idForm } from "../flags/values.ts";

/** A photo from the command line: an uploaded image or a local file. */
export interface PhotoArgument {
  readonly image: { readonly id: string } | { readonly path: string };
  readonly orientation: Orientation;
}

/**
 * Parses `FILE|IMAGE_ID[:ORIENTATION]`: text after the last colon is the orientation if it is (nearly) one;
 * any other colon belongs to the file name.
 */
function photoArgument(text: string): PhotoArgument {
  const colon = text.lastIndexOf(":");
  const word = text.slice(colon + 1).trim();
  const known =
    colon < 0 ? undefined : orientations.find((orientation) => orientation === word.toLowerCase());
  const near = colon < 0 || known !== undefined ? [] : didYouMean(word, orientations);
  if (near.length > 0) {
    throw new UsageError(`unknown orientation ${JSON.stringify(word)}${questionFor(near, "; ")}`, {
      param: "orientation",
      hint: `Use FILE:ORIENTATION with one of ${orientations.join(", ")}.`,
    });
  }
  const named = known === undefined ? text : text.slice(0, colon);
  if (named.trim() === "") {
    throw new UsageError("the photo is empty", { hint: "Use a file or the ID of an image." });
  }
  const image = idForm.test(named) ? { id: named.toUpperCase() } : { path: named };
  return { image, orientation: known ?? "unlabeled" };
}

/** The photos of one product. Throws all their problems, and those of the checks before, as one error. */
export async function photoArguments(
  texts: readonly string[],
  cwd: string,
  before: readonly Check[] = [],
): Promise<PhotoArgument[]> {
  const photos: PhotoArgument[] = [];
  await throwAllProblems([
    ...before,
    ...texts.map((text) => () => photos.push(photoArgument(text))),
    () => checkedForProduct(photos, cwd),
  ]);
  return photos;
}

/** The usable local files among the photos, relative to `cwd`. Throws InputError with every problem. */
export async function checkedPhotos(paths: readonly string[], cwd: string): Promise<LocalPhotos> {
  const photos = new LocalPhotos({ root: cwd, called: "the current folder", mayLeave: true });
  const problems = await photos.problems(paths.map((path, index) => ({ path, index })));
  const [first] = problems;
  if (first === undefined) return photos;
  const text = problems.map(({ message }) => message).join("; ");
  const missing = problems.filter(
    ({ code, isNoFile }) => isNoFile || code === "photo_not_found" || code === "photo_not_readable",
  ).length;
  if (missing === problems.length) {
    const hint = "Choose other files, and run the command again. Nothing was sent.";
    throw new UsageError(text, { code: first.code, hint });
  }
  if (problems.some(({ code }) => code === "damaged_image"))
    throw new InputError(text, first.code, "Replace them, and run the command again. Nothing was sent.");
  const others = missing === 0 ? "" : "Choose other files, or s";
  const hint = `${others || "S"}ave it as JPEG, PNG or WebP of at most 10 MB, or use cat import --convert. Nothing was sent.`;
  throw new InputError(text, first.code, hint);
}

/**
 * The local files of one product. Throws as `checkedPhotos`, and UsageError if two are the same image: the
 * product would have it once, with the last orientation.
 */
async function checkedForProduct(photos: readonly PhotoArgument[], cwd: string): Promise<LocalPhotos> {
  const paths = photos.flatMap(({ image }) => ("path" in image ? [image.path] : []));
  const local = await checkedPhotos(paths, cwd);
  const names = photos.map(({ image }) => ("id" in image ? image.id : image.path));
  const named = names.find((name, index) => names.indexOf(name) < index);
  const same = named === undefined ? await local.sameContent(paths) : null;
  if (named === undefined && same === null) return local;
  const what =
    same === null
      ? `${quote(named!)} is listed twice`
      : `${same.map(quote).join(" and ")} are the same photo`;
  throw new UsageError(`${what}; a product has each photo once, with one orientation`, {
    code: "duplicate_image",
    hint: "Remove one of them, and run the command again. Nothing was sent.",
  });
}

const quote = (name: string): string => JSON.stringify(name);

/** Uploads a checked photo; the service's record is to be used before `odd` is thrown. */
export async function uploadPhoto(
  client: Client,
  photos: LocalPhotos,
  path: string,
  signal: AbortSignal,
): Promise<AcceptedReply<Awaited<ReturnType<Client["images"]["upload"]>>>> {
  const bytes = await photos.read(path, await photos.digest(path));
  return carriedOut(client.images.upload({ file: { bytes, filename: basename(path) } }, { signal }));
}

/** The photos as the service takes them, in order, after their local files were checked and uploaded. */
export async function attachable(
  photos: readonly PhotoArgument[],
  { client, cwd, signal }: { client: () => Promise<Client>; cwd: string; signal: AbortSignal },
): Promise<{ image_id: string; orientation: Orientation }[]> {
  const paths = photos.flatMap(({ image }) => ("path" in image ? [image.path] : []));
  const local = await checkedForProduct(photos, cwd);
  const uploaded = new Map<string, string>();
  for (const path of paths) {
    const { reply, odd } = await uploadPhoto(await client(), local, path, signal);
    if (odd !== undefined) throw odd;
    uploaded.set(path, reply.id);
  }
  return photos.map(({ image, orientation }) => ({
    image_id: "id" in image ? image.id : uploaded.get(image.path)!,
    orientation,
  }));
}

/** A check of what the user typed; throws or rejects with a CatError if it finds a problem. */
type Check = () => unknown;

/** Runs all checks in order; throws one problem unchanged, several as one error: `usage` if one is. */
async function throwAllProblems(checks: readonly Check[]): Promise<void> {
  const errors: CatError[] = [];
  for (const check of checks) {
    try {
      await check();
    } catch (error) {
      if (!(error instanceof CatError)) throw error;
      errors.push(error);
    }
  }
  const [only, ...others] = errors;
  if (only === undefined) return;
  if (others.length === 0) throw only;
  const { type, code, param } = errors.find((error) => error.type === "usage") ?? only;
  const hint = "Nothing was sent. Fix them all and run the command again.";
  throw new CatError(errors.map(({ message }) => message).join("; "), { type, code, param, hint });
}
