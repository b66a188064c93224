import { BadAnswerError } from "../../../http/errors.ts";

/** What is wrong with an archive: the code of the error, the start of its sentence, and the next step. */
const faults = {
  not_a_zip: ["is not a ZIP file", "Run the command again to download it again."],
  damaged_zip: ["is damaged", "Run the command again to download it again."],
  unsupported_zip: [
    "cannot be read",
    "Use --out instead of --extract, and open the ZIP with another program.",
  ],
  unsafe_zip: [
    "is not safe to extract",
    "Nothing was extracted. Use --out instead of --extract, and check the ZIP with another program.",
  ],
} as const;

/** An artifact of the service that is not the ZIP it should be, or that must not be extracted: exit 7. */
export class ArchiveError extends BadAnswerError {
  override readonly name = "ArchiveError";

  /** `archive` is its name in the message, `why` the end of the sentence. */
  constructor(code: keyof typeof faults, archive: string, why: string, cause?: unknown) {
    const [what, hint] = faults[code];
    super(`${archive} ${what}: ${why}`, { code, hint, cause });
  }
}

/** The name of an entry in messages; long names are cut, because one sentence must fit on a screen. */
export function shownEntry(name: string): string {
  const characters = Array.from(name);
  return characters.length <= 80 ? `"${name}"` : `"${characters.slice(0, 60).join("")}…"`;
}
