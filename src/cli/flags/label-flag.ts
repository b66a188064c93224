import { Option } from "commander";
import { counted } from "../../flows/words.ts";
import { UsageError } from "../context/errors.ts";

/** `--no-label` for commands that save generated images. */
export const labelFlag = (): Option =>
  new Option("--no-label", "save images as sent, without the label of AI-generated ones");

/** The value of `--no-label`, which needs `--save`. Throws UsageError. */
export function labelOf({ label, save }: { label: boolean; save?: string | undefined }): boolean {
  if (label || save !== undefined) return label;
  const hint = "Add --save, or remove --no-label.";
  throw new UsageError("--no-label needs --save", { param: "--no-label", hint });
}

/** Tells how many images cannot have the label. */
export const unlabeledLine = (count: number): string =>
  `${counted(count, "image")} saved as sent: the AI label cannot be added to ${count === 1 ? "it" : "them"}.`;
