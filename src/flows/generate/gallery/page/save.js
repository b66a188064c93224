// Saving: the decisions as a file, and the commands that read it.

import { showProgress } from "./cards.js";
import { guardedCell } from "./formulas.js";
import {
  announce,
  cloneTemplate,
  counts,
  data,
  findNote,
  findReview,
  isReviewable,
  nextFile,
  part,
  setSaved,
} from "./review.js";

/** @typedef {import("./review.js").Result} Result */

/** Cells are quoted where CSV needs it. @param {string} text */
const cell = (text) =>
  text.includes(data.csv.delimiter) || /["\r\n]|^\s|\s$/.test(text)
    ? `"${text.replaceAll('"', '""')}"`
    : text;

/** @param {Result} result @returns {Record<string, string>} */
function toRow(result) {
  const product = data.products[result.product];
  const isReviewed = isReviewable(result);
  const { decision, at } = isReviewed ? findReview(result) : { decision: "" };
  return {
    line: String(result.line),
    task_id: result.taskId ?? "",
    status: result.status,
    product_id: product?.id ?? "",
    product_reference: product?.reference ?? "",
    model_id: result.modelId ?? "",
    background: result.background,
    angle_shot: result.angleShot,
    decision,
    note: isReviewed ? findNote(result) : "",
    decided_at: decision === "" || at === undefined ? "" : new Date(at).toISOString(),
  };
}

/** One row per result, in the order of the input. */
function decisionsCsv() {
  const rows = data.results.map((result) => {
    const row = toRow(result);
    return data.columns.map((column) => cell(guardedCell(row[column] ?? "")));
  });
  const { delimiter, lineEnd, marked } = data.csv;
  const lines = [data.columns, ...rows].map((cells) => `${cells.join(delimiter)}${lineEnd}`);
  return `${marked ? "\ufeff" : ""}${lines.join("")}`;
}

/** The effect of a command on the decisions. @type {Readonly<Record<keyof GalleryCommands, string>>} */
const uses = {
  approve: "To keep the approved images in the folder and move the rejected ones to rejected/, run:",
  record: "To record the decisions, run:",
  rerun: "To generate the rejected images again, run:",
};

/** @typedef {import("../describe-run.ts").GalleryData["commands"]} GalleryCommands */

/** @param {string} use @param {string} command */
function commandRow(use, command) {
  const row = cloneTemplate("command");
  part(row, "span", HTMLElement).textContent = use;
  const code = part(row, "code", HTMLElement);
  code.textContent = command;
  const button = part(row, "button", HTMLElement);
  button.addEventListener("click", async () => {
    const isCopied = await navigator.clipboard?.writeText(command).then(
      () => true,
      () => false,
    );
    // Some browsers deny the clipboard to a page on a disk: a person copies what is selected.
    if (!isCopied) getSelection()?.selectAllChildren(code);
    button.textContent = isCopied ? "Copied" : "Press Ctrl+C";
    announce(isCopied ? "Copied the command." : "Selected the command. Press Ctrl+C.");
  });
  return row;
}

/** Saves the decisions as a file, and shows what to do with it. */
function saveDecisions() {
  const { name, files } = nextFile();
  const url = URL.createObjectURL(new Blob([decisionsCsv()], { type: "text/csv;charset=utf-8" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
  setSaved(files);
  const { approved, rejected } = counts();
  const sentence = `Saved the decisions as ${name}.`;
  const message = part(document, "#saved", HTMLElement);
  part(message, "p", HTMLElement).textContent =
    `${sentence} Move the file from the folder for downloads to where you run the commands.`;
  const commands = Object.entries(data.commands).filter(([use]) =>
    use === "rerun" ? rejected > 0 : approved + rejected > 0,
  );
  part(message, "ol", HTMLElement).replaceChildren(
    ...commands.map(([use, command]) =>
      commandRow(
        uses[/** @type {keyof GalleryCommands} */ (use)],
        command.replaceAll(data.decisionsFile, name),
      ),
    ),
  );
  message.hidden = false;
  showProgress();
  announce(sentence);
}

/** Has the buttons work that save. */
export function wireSave() {
  part(document, "#save", HTMLElement).addEventListener("click", saveDecisions);
  const message = part(document, "#saved", HTMLElement);
  part(message, ".close", HTMLElement).addEventListener("click", () => {
    message.hidden = true;
  });
}
