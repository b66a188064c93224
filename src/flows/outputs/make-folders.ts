import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Creates a folder with its missing parents; an existing one is fine. Throws the system's error. Node's own
 * `recursive` never ends where the system denies a new folder with ENOENT, as in /proc.
 */
export async function makeFolders(path: string): Promise<void> {
  const error = await made(path);
  if (error === null) return;
  const parent = dirname(path);
  if (error.code !== "ENOENT" || (await isFolder(parent))) throw error;
  await makeFolders(parent);
  const again = await made(path);
  if (again !== null) throw again;
}

async function made(path: string): Promise<NodeJS.ErrnoException | null> {
  try {
    await mkdir(path);
    return null;
  } catch (error) {
    // A link to a folder is one as well; a root may be denied with another code than EEXIST.
    return (await isFolder(path)) ? null : (error as NodeJS.ErrnoException);
  }
}

const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
