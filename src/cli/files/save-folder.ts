import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { fileProblem } from "../../errors.ts";
import { makeFolders } from "../../flows/outputs/make-folders.ts";
import type { App } from "../app/app.ts";
import { UsageError } from "../context/errors.ts";

/** Makes the folder of `--save` where it is missing, and checks that files can be written in it. Throws UsageError. */
export async function checkSaveFolder(app: App, name: string): Promise<string> {
  const path = resolve(app.context.cwd, name);
  const reject = (why: string): UsageError =>
    new UsageError(`cannot save in ${name}: ${why}`, {
      param: "--save",
      hint: "Choose another folder, for example --save images.",
    });
  try {
    const found = await stat(path).catch(() => null);
    if (found !== null && !found.isDirectory()) throw reject("it is a file");
    await makeFolders(path);
    await access(path, constants.W_OK | constants.X_OK);
    return path;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw reject(fileProblem(error)?.why ?? (error as Error).message);
  }
}
