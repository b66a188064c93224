import { exitMeanings } from "../context/errors.ts";
import { exitAdvice } from "./help-pages.ts";

/** The commands for nine tenths of the work. */
const usual = ["import", "tryon", "beautify", "export sync", "products list", "runs list"];

/** The guide for agents (format: Agent Skills), which `npm run reference` writes to skills/ as well. */
export function skillText(commands: readonly { name: string; summary: string }[]): string {
  const summaryOf = (name: string) => commands.find((one) => one.name === name)!.summary;
  const statuses = Object.entries(exitMeanings).map(([status, meaning]) => [
    status,
    meaning,
    exitAdvice[Number(status) as keyof typeof exitAdvice],
  ]);
  return text
    .replace("COMMANDS", () => rows(usual.map((name) => [`\`catalogue ${name}\``, summaryOf(name)])))
    .replace("STATUSES", () => rows(statuses));
}

const rows = (cells: readonly (readonly string[])[]): string =>
  cells.map((row) => `| ${row.join(" | ")} |`).join("\n");

const text = `---
name: catalogue
description: Manage a fashion shop's catalogue on its imaging service with the catalogue command line. Import products and photos from Excel, CSV or NDJSON, generate images of products on models (try-ons) or alone, mirror all images to a folder or bucket, find and change products. Use it when products, product photos, try-ons or catalogue exports are mentioned.
---

# catalogue

\`cat\` is another name of the same program. Always type \`catalogue\`: in many shells \`cat\` prints files.

| command | what it does |
|---|---|
COMMANDS

Others: \`catalogue --help\`. Flags of one command: \`catalogue commands tryon\`, with the JSON Schema of its output: \`catalogue commands tryon --json\`. Commands of a group: \`catalogue commands products\`. As tools of an agent (MCP): \`catalogue mcp\`.

## Rules

- The user sets the service: \`catalogue login\` in a terminal, or \`CAT_BASE_URL\` and \`CAT_API_KEY\`. Never type, print or store an API key. \`catalogue whoami\` shows the service in use.
- \`--mock\` tries one command on a private mock service with demo products. It keeps nothing.
- Add \`--json\`: data on stdout (lists: one object per line), errors on stderr as \`{"error":{"type","code","message","exit"}}\`. Most messages end with the next step; otherwise see the table of exit statuses.
- Decide by the exit status. With \`--no-input\` nothing is asked: an error names the missing flag.
- To resume or repeat one of the six commands, run it again, unchanged, on the same machine: nothing is sent, added or paid twice. \`products attach\`, \`images upload\` and \`api POST\` do it again.
- These pay or delete without a question. Ask the user first: \`api\` (except GET), \`products detach\`, \`products update --clear\`, \`--fresh\`, \`--rerun\`, \`--allow-duplicates\`, \`--unknown resend\`, \`--photos all\`.
- Also ask before \`--yes\`, \`--exact\`, \`--conflicts sheet\`, \`--delete\`, \`products delete\` or \`imports undo\`.

## Products and photos

A product is known by its reference. A photo is an https:// URL or a file next to the sheet; \`image_front\` names its side.

\`\`\`csv products.csv
reference,name,sex,image_front
DRESS-1,Linen dress,female,https://cdn.example.com/dress-1.jpg
SHIRT-2,Oxford shirt,male,https://cdn.example.com/shirt-2.jpg
\`\`\`

\`\`\`sh
catalogue import products.csv --dry-run --json            # checks the file, sends nothing
catalogue import products.csv --plan --exit-code --json   # exits with 9 if something would change; sends nothing
catalogue import products.csv --json
catalogue products get DRESS-1 --json
catalogue products list --q dress --limit 5 --json
\`\`\`

An edited sheet is imported again as is: only the edits are sent. To take an import back, view \`catalogue imports undo RUN --plan\` first.

## Generated images cost money

Each image costs credits, also one that is rejected later.

\`\`\`csv looks.csv
product_reference,model_id,background,angle_shot
DRESS-1,Amara,studio,full-front
SHIRT-2,Bastian,studio,half-front
\`\`\`

\`\`\`csv packshots.csv
product_reference,subtype,background,angle_shot
DRESS-1,clothing,white,front
\`\`\`

1. Check, which is free: \`generations\` is the number of images to pay for. Those of this machine are in \`unchanged\`. With another machine, container or \`CAT_HOME\`, add \`--missing\` to both commands: otherwise images that exist are paid again.
2. Show the user this number, and wait for consent.
3. Generate with the same number as a limit. More images than that: exit status 3, and none is generated. If the number is 0, all exist: stop.

\`\`\`sh
catalogue models list --fields id,name,sex --json
catalogue tryon looks.csv --dry-run --json
catalogue tryon looks.csv --dry-run --missing --json      # also finds images of other machines
catalogue tryon looks.csv --yes --max-generations 2 --save images --gallery review.html --json
catalogue beautify packshots.csv --dry-run --json
catalogue beautify packshots.csv --yes --max-generations 1 --save images --json
\`\`\`

## Where results are

| result | place |
|---|---|
| numbers, run ID | the object on stdout |
| rows that failed or are conflicts (exit status 8) | the file named in \`failed_file\`, with reasons. Fix them there, and run the same command on it: with \`tryon\` and \`beautify\`, after consent, because it pays for each image again |
| generated images | the folder of \`--save\`, listed in its \`results.csv\`; later \`catalogue tasks save --run RUN --save images\` |
| review | the user opens the page of \`--gallery\`, and saves decisions; then \`catalogue tasks review FILE\` |
| all images of the catalogue | the folder of \`export sync\`; its \`catalogue.ndjson\` has one line per image |
| earlier runs, failed ones first | \`catalogue runs list --since 7d\`; without \`--json\`, \`catalogue runs get RUN\` names the command that resumes or undoes one |

\`\`\`sh
catalogue export sync mirror --json
catalogue runs list --since 7d --json
catalogue runs get last --json
\`\`\`

## Exit statuses

| status | meaning | next |
|---|---|---|
STATUSES
`;
