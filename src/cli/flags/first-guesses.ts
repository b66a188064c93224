// First guesses: words and flags that people know from other programs, and what this program has for them.

/** Words typed for the same thing, and what is meant by them: the first that fits. */
type Guesses = readonly (readonly [typed: string, meant: readonly string[]])[];

/** Verbs for those of a group, with the flag of the next word, which `get` needs. */
const verbs: Guesses = [
  ["ls all index", ["list"]],
  ["show view info describe status inspect details display", ["get", "list"]],
  ["search find query filter grep", ["list --q", "list --product", "get", "list"]],
  ["add new insert register make", ["create", "upload", "attach"]],
  ["edit change modify rename patch", ["update", "set"]],
  ["rm remove del destroy", ["delete", "unset"]],
  ["wait follow tail monitor progress", ["watch"]],
  ["download pull fetch", ["download", "save"]],
  ["push put send", ["upload"]],
  ["revert rollback", ["undo"]],
  ["results lines errors failures", ["rows"]],
  ["resend", ["replay"]],
];

/** Words that are no commands, or not those of a group (`GROUP WORD`), and the commands to run instead. */
const words: Guesses = [
  ["status account me info", ["cat whoami", "cat runs list"]],
  ["history log logs jobs queue resume continue", ["cat runs list"]],
  ["ping check health test diagnose credits balance", ["cat doctor"]],
  ["version", ["cat --version"]],
  ["man manual docs usage", ["cat help"]],
  ["list ls search find query filter", ["cat products list --q TEXT"]],
  ["show get view describe", ["cat products get ID|REFERENCE"]],
  ["add new create insert", ["cat import FILE", "cat products create"]],
  ["edit update change modify rename", ["cat products update ID|REFERENCE", "cat import FILE"]],
  ["set", ["cat config set NAME VALUE"]],
  ["rm remove delete del", ["cat products delete ID|REFERENCE"]],
  ["upload push put send load", ["cat import FILE", "cat images upload FILE"]],
  ["sync mirror backup", ["cat export sync DIR"]],
  ["download pull fetch save", ["cat export sync DIR", "cat tasks save --save DIR"]],
  ["undo revert rollback", ["cat imports undo last"]],
  ["approve reject review decide decisions approved rejected", ["cat tasks review DECISIONS"]],
  ["gallery", ["cat tryon FILE --gallery PAGE.html"]],
  ["generate render shoot", ["cat tryon FILE", "cat beautify FILE"]],
  ["ghost flatlay packshot packshots", ["cat beautify FILE"]],
  ["looks coverage missing", ["cat products coverage"]],
  ["sheet excel spreadsheet workbook template", ["cat products export FILE", "cat import --template FILE"]],
  ["photos photo pictures", ["cat images upload FILE", "cat products attach ID|REFERENCE PHOTO"]],
  ["setup init configure auth signin sign-in key token connect register", ["cat login"]],
  ["signout sign-out exit quit", ["cat logout"]],
  ["settings profile profiles", ["cat config list"]],
  ["use switch", ["cat config set active PROFILE"]],
  ["mock demo sandbox server start run", ["cat serve --mock"]],
  ["listen events", ["cat webhooks listen"]],
  ["watch wait follow", ["cat tasks watch", "cat imports watch ID"]],
  ["rows errors", ["cat imports rows ID"]],
  ["cancel stop", ["cat imports undo last"]],
  ["request curl http", ["cat api METHOD PATH"]],
  // Commands in the place of a verb: `products import`.
  ["import", ["cat import FILE"]],
  ["tryon beautify", ["cat tryon FILE", "cat beautify FILE"]],
  ["export", ["cat export"]],
];

const groupWords: Guesses = [
  ["products upload|products push|products put|products send|products load", ["cat import FILE"]],
  ["products download|products pull|products fetch|products save", ["cat products export FILE"]],
  [
    "products photos|products images|products pictures|images list|images ls",
    ["cat products get ID|REFERENCE"],
  ],
  ["products count", ["cat products list --all"]],
  ["images delete|images rm|images remove", ["cat products detach ID|REFERENCE IMAGE_ID"]],
  ["images download|images save|images pull|images fetch", ["cat images get ID --save FILE"]],
  ["imports new|imports create|imports add|imports start|imports run", ["cat import FILE"]],
  [
    "exports new|exports create|exports add|exports start|exports run",
    ["cat export --manifest", "cat export --zip"],
  ],
  ["export list|export ls|export show", ["cat exports list"]],
  ["export get|export watch|export download", ["cat exports get ID", "cat exports download ID"]],
  ["tasks new|tasks create|tasks add|tasks start|tasks retry", ["cat tryon FILE", "cat beautify FILE"]],
  ["import list|import ls|import show|import status", ["cat imports list"]],
  ["tryon list|tryon ls|tryon show|tryon status|beautify list|beautify ls", ["cat tasks list"]],
  ["tasks redo|tasks rerun|tasks regenerate", ["cat tryon --rerun DECISIONS"]],
  ["tasks approved", ["cat tasks list --decision approved"]],
  ["tasks rejected", ["cat tasks list --decision rejected"]],
  ["webhooks test|webhooks simulate", ["cat webhooks trigger EVENT --to URL"]],
  ["webhooks start|webhooks receive|webhooks logs|webhooks tail|webhooks events", ["cat webhooks listen"]],
  ["webhooks secret", ["cat webhooks rotate ID"]],
  ["config file|config open|config where", ["cat config path"]],
];

/** For an extra word or URL of a command that takes none. */
const extras: Guesses = [
  ["whoami logout doctor", ["--profile NAME"]],
  ["login", ["--profile NAME", "--base-url URL"]],
  ["serve", ["--mock", "-- COMMAND"]],
];

/** Flags, by a command and a flag or by a flag alone: a flag of the command, its ARGUMENT, or a sentence. */
const flags: Guesses = [
  ["api -X|api --request|api --method", ["The method comes first: cat api POST PATH."]],
  ["api -d|api --data", ["Use -F NAME=VALUE, or --input FILE for a complete body."]],
  ["api -q|api --jq", ["Pipe the output: cat api PATH | jq FILTER."]],
  ["api -i", ["Use --include."]],
  ["cat -v|cat -V", ["For the version: cat --version."]],
  [
    "--key|--api-key|--apikey|--token|--password|--secret|-k",
    ["A key is never on the command line. Run: cat login, or cat login --with-key < keyfile."],
  ],
  ["--url|--server|--address|--endpoint-url|--service", ["--base-url"]],
  ["--account|--environment|--env", ["--profile"]],
  ["--search|--find|--query|--filter|--text|--contains|--keyword|-q", ["--q", "--product"]],
  ["-n|--count|--max|--top|--size|--per-page|--first|--head", ["--limit"]],
  ["-o|--output|--outfile|--dest|--destination|--target", ["--out", "--save", "--results"]],
  [
    "--dir|--folder|--directory|-d|--save-dir|--download|--out|--to",
    ["--save", "--extract", "--out", "--images-root", "ARGUMENT"],
  ],
  ["--file|--input|--csv|--xlsx|--excel-file|-f|--from|--path", ["--from", "--products-from", "ARGUMENT"]],
  [
    "--id|--ref|--reference|--sku|--product|--task|--run|--image|--webhook|--export|--event|--decisions",
    ["--product", "--q", "ARGUMENT"],
  ],
  ["--name", ["--q", "ARGUMENT"]],
  ["--dry|--preview|--validate|--simulate|--check|--test", ["--dry-run", "--plan"]],
  ["-y|--force|--assume-yes|--confirm|--no-confirm|--no-prompt", ["--yes"]],
  ["--redo|--retry|--reshoot|--rejected", ["--rerun", "--fresh"]],
  ["--approved-only|--only-approved", ["--approved"]],
  ["--restart|--again|--regenerate|--overwrite", ["--fresh"]],
  ["--debug|--trace|-v", ["--verbose"]],
  ["-s|--silent", ["--quiet"]],
  ["--separator|--sep", ["--delimiter"]],
  ["--charset", ["--encoding"]],
  ["--worksheet|--tab", ["--sheet"]],
  ["--state", ["--status"]],
  ["--review|--reviewed", ["--decision"]],
  ["--bg", ["--background"]],
  ["--angle-shot|--pose|--view", ["--angle"]],
  ["--photos|--images|--photo-dir|--image-dir|--photos-from", ["--images-from", "--image"]],
  ["--photo|--picture", ["--image"]],
  ["--after|--newer-than|--date", ["--since"]],
  ["--errors|--rejects", ["--failed"]],
  ["--parallel|--jobs|--threads|--workers|-j", ["--concurrency"]],
  ["--output-format|--type", ["--format"]],
  ["--columns|--select", ["--fields"]],
];

const lookUp = (guesses: Guesses, separator: string, typed: string): readonly string[] =>
  guesses.find(([known]) => known.split(separator).includes(typed))?.[1] ?? [];

/** The verbs, each with a flag or none, that a word after a group may mean. */
export const meantVerbs = (word: string): readonly string[] => lookUp(verbs, " ", word.toLowerCase());

/** The verb of this program that a word is, or probably means; null for another word. */
export function ownVerb(word: string): string | null {
  const isOwn = verbs.some(([, meant]) => meant.includes(word));
  return isOwn ? word : (meantVerbs(word)[0]?.split(" ")[0] ?? null);
}

/** The commands to run instead of a word that is no command, or not one of that group. */
export function meantCommands(word: string, groupName: string): readonly string[] {
  const typed = word.toLowerCase();
  const own = lookUp(groupWords, "|", `${groupName} ${typed}`);
  return own.length > 0 ? own : lookUp(words, " ", typed);
}

/** The guesses for an unknown flag of a command: flags, ARGUMENT, or a sentence. */
export function meantFlags(flag: string, commandName: string): readonly string[] {
  const own = lookUp(flags, "|", `${commandName} ${flag}`);
  return own.length > 0 ? own : lookUp(flags, "|", flag);
}

/** The guesses for an extra word of a command without arguments. */
export const meantByExtra = (commandName: string): readonly string[] => lookUp(extras, " ", commandName);
