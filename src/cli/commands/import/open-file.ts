import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { isBucketAddress } from "../../../flows/bucket/address.ts";
import { importVocabulary, objectVocabulary } from "../../../flows/import/columns.ts";
import { importForm } from "../../../flows/import/import-form.ts";
import type { ImportInput } from "../../../flows/import/import-input.ts";
import type { PhotoConverter } from "../../../flows/photos/convert-photos.ts";
import type { LocalPhotos } from "../../../flows/photos/local-photos.ts";
import { openLocalPhotos } from "../../../flows/photos/open-local-photos.ts";
import type { PhotoUrls } from "../../../flows/photos/photo-urls.ts";
import { formatOfName } from "../../../flows/rows/input-format.ts";
import type { ColumnMap } from "../../../flows/rows/mapped-columns.ts";
import type { FileJob } from "../../../flows/rows/source.ts";
import type { App } from "../../app/app.ts";
import { canAsk } from "../../app/prompts.ts";
import { UsageError } from "../../context/errors.ts";
import type { FileMapping, MappedFile } from "../../mapping/file-head.ts";
import { loadMapFiles } from "../../mapping/map-files.ts";
import { openTable } from "../../mapping/open-table.ts";
import { readMappings } from "../../mapping/read-mapping.ts";
import type { PhotoAt } from "../../output/problem-groups.ts";
import { type ImportFlags, rejectCsvFlags } from "./flags.ts";
import type { PhotoFolder } from "./folder.ts";

const job: FileJob = {
  noun: "import",
  ifEdited: "You can also import the changed file, but not with --photos all: it would add photos twice.",
};

/** A file to import, with its local photos, and its flags as its folder and its columns complete them. */
export interface OpenedFile extends Pick<ImportInput, "file"> {
  readonly flags: ImportFlags & Pick<ImportInput, "addedPhotos" | "namesFromReferences">;
  readonly localPhotos: LocalPhotos;
  readonly converter: PhotoConverter | undefined;
  readonly urls: PhotoUrls | undefined;
  readonly photoAt: PhotoAt | undefined;
  close(): Promise<void>;
}

/** Opens the files, or the folder of photos. Asks how their columns are read where they do not tell. */
export async function openFiles(app: App, typed: readonly ImportFlags[]): Promise<OpenedFile[]> {
  const begun: BegunFile[] = [];
  const opened: OpenedFile[] = [];
  try {
    const { length } = app.typed;
    for (const flags of typed) begun.push(await beginFile(app, flags));
    // A flag would be about all of several files.
    if (typed.length > 1) app.typed.length = length;
    const mappings = await readMappings(
      app,
      begun.map(({ mapped }) => mapped),
    );
    const urls = typed[0]!.checkPhotos
      ? await (await import("./check-photos.ts")).openPhotoUrls(app)
      : undefined;
    for (const [index, file] of begun.entries())
      opened.push(await openFile(app, file, mappings[index]!, urls));
    return opened;
  } catch (error) {
    for (const [index, file] of begun.entries()) await (opened[index] ?? file).close();
    throw error;
  }
}

interface BegunFile extends Pick<OpenedFile, "converter" | "close"> {
  readonly flags: ImportFlags;
  readonly folder: PhotoFolder | null;
  readonly mapped: MappedFile;
}

async function beginFile(app: App, typed: ImportFlags): Promise<BegunFile> {
  const folder = await openPhotoFolder(app, typed);
  const flags = folder?.flags ?? typed;
  // Fail before waiting for a pipe, if the format is known.
  if (!folder?.source) rejectCsvFlags(flags, flags.format ?? formatOfName(flags.file));
  const mapFiles = await loadMapFiles(app, flags, importVocabulary);
  const form = (map: ColumnMap, needs: boolean) =>
    importForm(map, undefined, flags.values, undefined, { needsPhotos: needs });
  const source =
    folder?.source ??
    (await openTable(app, flags, {
      job,
      flags,
      mapFiles,
      // The sheet with photos comes first, but a change of fields needs none.
      forms: (map) => [form(map, folder === null), form(map, false)],
      isCompared: !flags.dryRun,
    }));
  const converter = flags.convert ? await openConverter(app) : undefined;
  const close = async () => {
    await converter?.close();
    await source.close();
  };
  try {
    rejectCsvFlags(flags, source.format);
  } catch (error) {
    await close();
    throw error;
  }
  const mapped: MappedFile = {
    file: flags.file,
    source,
    read: flags,
    flags,
    mapFiles,
    form: ({ map, values }) => importForm(map, undefined, values, undefined, formOptions(flags, folder)),
    words: source.format === "ndjson" ? objectVocabulary : importVocabulary,
    // The photos of a folder need no column.
    ...(folder !== null && { added: ["images"] }),
  };
  return { flags, folder, mapped, converter, close };
}

async function openFile(
  app: App,
  { flags, folder, mapped: { source }, converter, close }: BegunFile,
  mapping: FileMapping,
  urls: PhotoUrls | undefined,
): Promise<OpenedFile> {
  const place = { cwd: app.context.cwd, sourcePath: source.place };
  const alsoIn = folder?.listing.folder;
  const namesAreRead = folder !== null && folder.source !== null && folder.hasNames !== true;
  const localPhotos = await openLocalPhotos(
    { ...flags, alsoIn, conversion: converter ?? "offered", digests: folder?.digests, namesAreRead },
    place,
  );
  const { map, values, encoding } = mapping;
  const read = { delimiter: flags.delimiter, encoding };
  const added =
    folder === null || folder.source !== null
      ? undefined
      : await (await import("./folder.ts")).photosForRows(
          app,
          folder,
          { source, read, form: importForm(map, undefined, values) },
          localPhotos,
        );
  const { limit } = flags;
  const form = importForm(map, localPhotos, values, added, { ...formOptions(flags, folder), urls });
  const own = { source, read, limit, form };
  const mayMerge = flags.mergeRows || (canAsk(app) && flags.file !== "-" && folder?.source == null);
  const merged = mayMerge ? await (await import("./merge-rows.ts")).mergedRows(app, own, flags) : null;
  const file = merged === null ? own : { ...own, merged };
  const closeBoth = async () => {
    await merged?.close();
    await close();
  };
  // The failed file names photos by their paths.
  const imagesOutside =
    flags.imagesOutside || (alsoIn !== undefined && !(await localPhotos.contains(alsoIn)));
  const given = {
    ...flags,
    ...mapping,
    ...(merged !== null && { mergeRows: true, typed: { ...flags.typed, mergeRows: true } }),
    imagesOutside,
    addedPhotos: added?.identity,
    namesFromReferences: namesAreRead,
  };
  return { flags: given, file, localPhotos, converter, urls, photoAt: folder?.photoAt, close: closeBoth };
}

const formOptions = (
  { mode, photos, imagesFrom, codesAsWritten }: ImportFlags,
  folder: PhotoFolder | null,
): Parameters<typeof importForm>[4] => ({
  /** Whether rows without photos cannot be imported, whatever products exist. */
  needsPhotos: mode !== "upsert" || photos === "all" || imagesFrom !== undefined,
  // A mirror has what the service had.
  judged: folder?.hasNames ? "none" : codesAsWritten ? "written" : "all",
});

async function openPhotoFolder(app: App, flags: ImportFlags): Promise<PhotoFolder | null> {
  if (isBucketAddress(flags.file)) {
    const { fetchMirror, openMirrorRows: openMirror } = await import("./mirror.ts");
    return openMirror(app, flags, job, await fetchMirror(app, flags));
  }
  const mapping =
    flags.file === "-" ? null : await stat(resolve(app.context.cwd, flags.file)).catch(() => null);
  const isFolder = mapping?.isDirectory() === true;
  if (isFolder) {
    const { isMirror, openMirrorRows: openMirror } = await import("./mirror.ts");
    if (await isMirror(resolve(app.context.cwd, flags.file))) return openMirror(app, flags, job);
  }
  if (isFolder || flags.imagesFrom !== undefined)
    return (await import("./folder.ts")).openFolder(app, flags, isFolder, job);
  if (flags.pattern === undefined) return null;
  throw new UsageError("--pattern needs the photos of a folder", {
    param: "--pattern",
    hint: "Add --images-from FOLDER, or import a folder.",
  });
}

async function openConverter({ context }: App): Promise<PhotoConverter> {
  const { PhotoConverter } = await import("../../../flows/photos/convert-photos.ts");
  return new PhotoConverter(context.interrupt);
}
