import { cpSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import sharp from "sharp";

/** The script that uses an installed package. */
export const smokeScript = fileURLToPath(new URL("./smoke.mjs", import.meta.url));

/** What it prints, sorted: each kind of file that the program writes, and the mock and the check from code. */
export const works = [
  ...[
    "mock from code",
    "check of deliveries",
    "state of the mock",
    "key in a file",
    "settings",
    "results and failed file",
    "undo",
  ],
  ...["workbook", "photo", "models", "products", "saved image", "mirror", "ZIP", "log of events"],
].sort();

/** Writes what it reads into the folder in which it runs. */
export async function fillForSmoke(folder: string): Promise<void> {
  cpSync(fileURLToPath(new URL("../../fixtures", import.meta.url)), join(folder, "fixtures"), {
    recursive: true,
  });
  const photo = { create: { width: 640, height: 640, channels: 3, background: "#345" } } as const;
  await sharp(photo).png().toFile(join(folder, "photo.png"));
}
