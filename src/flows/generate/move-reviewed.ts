// Saved images of a review: the rejected ones are kept apart from the others, and none is ever deleted.

import { lstat, stat, unlink } from "node:fs/promises";
import { basename, join } from "node:path";
import { makeFolders, moveFile, syncFolder } from "../../move-file.ts";
import type { Decisions } from "../../state/decisions.ts";
import { OutputError } from "../files/disk.ts";
import { rejectedFolder } from "./result.ts";
import type { OutputSaver } from "./save-outputs.ts";

/**
 * Moves the rejected images of a folder into its folder `rejected`, and approved ones back. Each move is one step for the
 * file system; what a killed process has left is completed. A name that another file has is a fault of its task, and both
 * files stay as they are. `decisions` are those of the service that made the images.
 */
export async function moveReviewed(
  saver: Pick<OutputSaver, "files" | "faults">,
  folder: string,
  decisionOf: (taskId: string) => ReturnType<Decisions["of"]>,
): Promise<void> {
  const rejected = join(folder, rejectedFolder);
  let isMoved = false;
  for (const [task, path] of saver.files) {
    const decision = decisionOf(task)?.decision;
    if (decision === undefined) continue;
    const name = basename(path);
    const target = decision === "reject" ? `${rejectedFolder}/${name}` : name;
    const other = decision === "reject" ? name : `${rejectedFolder}/${name}`;
    try {
      if (decision === "reject") makeFolders(rejected);
      if (path === target) await removeSecondName(join(folder, other), join(folder, target));
      else await move(join(folder, path), join(folder, target));
      isMoved ||= path !== target;
      saver.files.set(task, target);
    } catch (error) {
      saver.faults.set(
        task,
        error instanceof OutputError ? error : noFolder(rejected, error as NodeJS.ErrnoException),
      );
    }
  }
  if (!isMoved) return;
  await syncFolder(rejected);
  await syncFolder(folder);
}

const noFolder = (rejected: string, error: NodeJS.ErrnoException): OutputError =>
  error.code === "EEXIST"
    ? new OutputError(rejected, error, {
        what: "is a file, so rejected images cannot be moved there",
        code: "file_not_writable",
        hint: "Rename it, and run the same command again.",
      })
    : new OutputError(rejected, error);

async function move(from: string, to: string): Promise<void> {
  if (moveFile(from, to, true) || (await removeSecondName(from, to))) return;
  // A file system without links gives the name to an empty file first.
  if ((await stat(to)).size === 0) return void moveFile(from, to, false);
  const taken = Object.assign(new Error("it exists"), { code: "EEXIST" });
  throw new OutputError(from, taken, {
    what: `cannot be moved: another file is ${to}`,
    code: "file_appeared",
    hint: "Compare both files, move one of them away, and run the same command again.",
  });
}

/** A process that was killed while it moved a file may have left it with both names: removes this one. */
async function removeSecondName(name: string, kept: string): Promise<boolean> {
  const exact = { bigint: true } as const;
  const [second, first] = await Promise.all([lstat(name, exact), stat(kept, exact)]).catch(() => []);
  if (second === undefined || first === undefined) return false;
  // With one link only, both names lead to it by way of a folder that is a link.
  if (second.nlink < 2n || second.ino !== first.ino || second.dev !== first.dev) return false;
  await unlink(name);
  return true;
}
