import { readZip } from "./read-zip.ts";

/**
 * Checks a downloaded file: it is a complete ZIP, and this program could read each file in it (no encryption, no unknown
 * compression, no parts). Names and the bytes of the files are not checked: programs that extract it do that. `shown` is
 * its name in messages. Resolves to the number of files and their bytes. Throws a BadAnswerError (exit 7) that says what
 * the file is instead.
 */
export async function checkZip(
  path: string,
  { shown = path, signal }: { shown?: string; signal?: AbortSignal } = {},
): Promise<{ files: number; bytes: number }> {
  const { entries } = await readZip(path, shown, signal);
  const files = entries.filter(({ kind }) => kind === "file");
  return { files: files.length, bytes: files.reduce((sum, { size }) => sum + size, 0) };
}
