import type { TestName } from "../fidelity/clause.ts";

/** What an attacker could try, what stops it, and the tests that show it. */
export interface Threat {
  readonly threat: string;
  readonly defense: string;
  readonly tests: readonly TestName[];
}

/** The threats to one part of the program. */
export interface Area {
  readonly title: string;
  readonly threats: readonly Threat[];
}

const threat = (text: string, defense: string, ...tests: TestName[]): Threat => ({
  threat: text,
  defense,
  tests,
});

/** Every threat, by the part of the program that it concerns. */
export const areas: readonly Area[] = [
  {
    title: "API keys and secrets",
    threats: [
      threat(
        "An API key that was typed as an argument is repeated on the screen or in a log.",
        "The error does not repeat it, and names cat login.",
        "cli/first-guesses.test.ts > %s exits with 2: %s",
      ),
      threat(
        "A key is stored unencrypted without a word about it.",
        "The file is offered by a question, or chosen with --store file.",
        "cli/login.test.ts > cat login on a terminal without a keychain > ends without asking for the key after a no, and stores nothing",
      ),
      threat(
        "A redirect or a signed URL leads the API key to another server.",
        "The key is sent to the origin of the base URL alone, and redirects are not followed.",
        "http/exchange.test.ts > the API key > is sent to the base URL's origin only",
        "http/exchange.test.ts > does not follow a redirect, and sends no header to it",
        "client/client.test.ts > a download sends no key, even to the service's own origin",
      ),
      threat(
        "A stored key is used for another service, by another base URL.",
        "A stored key belongs to one base URL.",
        "cli/login.test.ts > a stored key > is sent to no other origin",
      ),
      threat(
        "Another user reads the key from a file or from a list of processes.",
        "The key is in the keychain, or in a file with mode 0600. It is never an argument.",
        "cli/login.test.ts > cat login --with-key > --store file writes a private file, and asks no keychain",
        "cli/login.test.ts > cat login --with-key > keeps the settings private, whatever the permissions of an older file",
        "cli/context/os-keychain.test.ts > the child gets no secret in its arguments or its environment, and no code of others",
      ),
      threat(
        "A key appears in an error, a log, a report or a file.",
        "Streams and files mask the key and secrets, also where the service repeats them.",
        "cli/every-command/echoed-key.test.ts > a key that the service repeats in every text > is in no file and on no stream",
        "cli/secrets.test.ts > an API key that was typed into the wrong place is not shown",
        "cli/every-command/secrets.test.ts > the walk finds a secret that is not masked",
      ),
      threat(
        "A notice of a run takes a key or a signed URL to the server of others.",
        "The body is the summary, without keys and signatures. --notify none, or no URL, sends nothing.",
        "cli/after-run/notify.test.ts > neither the API key nor a signature of a URL is in a notice",
        "cli/after-run/notify.test.ts > the URL > gets nothing from other commands, and from a demo only by the flag",
      ),
      threat(
        "The URL of notices, with which anyone can report a success, is read in a log or a list.",
        "Messages, lists of settings and of runs show its host alone; CAT_NOTIFY is in no list of processes.",
        "cli/after-run/notify.test.ts > the URL > is masked in messages, in the list of settings, and in the list of runs",
        "cli/after-run/notify.test.ts > the URL > is an http:// or https:// URL, else nothing is sent, and it is not repeated: %s",
      ),
      threat(
        "A program that a command starts reads a key of the keychain.",
        "A key of the keychain is in no environment.",
        "cli/every-command/secrets.test.ts > a program that a command runs does not get a key of the keychain",
      ),
      threat(
        "A program that a command starts reads an API key or a secret.",
        "One function makes the environment of every program that is started.",
        "cli/context/child-environment.test.ts > each program that this one starts gets an environment without secrets",
      ),
      threat(
        "DNS sends NAME.localhost, with the API key, to another machine.",
        "Such names are resolved without DNS, to 127.0.0.1 and ::1.",
        "http/local-names.test.ts > the client reaches a server of this machine by any such name, on IPv4 or IPv6, also with a proxy",
      ),
    ],
  },
  {
    title: "Servers of others",
    threats: [
      threat(
        "A sheet makes --check-photos fetch addresses of the inner network.",
        "The URL policy holds for each redirect, and all addresses of a host must be public.",
        "flows/photos/photo-urls.test.ts > a host name is connected to only if all its addresses are allowed",
      ),
      threat(
        "A server that sends a byte now and then holds the check of photos.",
        "A minute for the start of a photo.",
        "flows/photos/photo-urls.test.ts > end for a server that sends a byte now and then",
      ),
      threat(
        "A check of photos floods the servers of others.",
        "16 requests at once, 2 per host and second.",
        "flows/photos/photo-urls.test.ts > are at most 16 at once, and 2 per host and second, whatever the hosts",
      ),
      threat(
        "A photo URL makes the mock reach a server of the private network, also by a name that resolves differently later.",
        "The URL policy checks the name and each address. A request connects only to the checked address.",
        "contract/url-policy.test.ts > the URL policy",
        "mock/outgoing/outgoing.test.ts > a forbidden address > cannot be reached by a name that resolves differently later: each request resolves it once",
        "mock/outgoing/outgoing.test.ts > a forbidden address > cannot be reached by a second lookup: the real network connects only to the given addresses",
      ),
      threat(
        "A receiver of notices does not respond, or sends a run elsewhere.",
        "It holds the end of a command for 10 s at most. Redirects are not followed, the exit status stays.",
        "cli/after-run/notify.test.ts > a notice that does not arrive > holds the command for 10 seconds at most, if nothing responds",
        "cli/after-run/notify.test.ts > a notice that does not arrive > is one line on stderr: %i",
      ),
      threat(
        "A response has no end.",
        "Responses are cut off at a limit.",
        "http/exchange.test.ts > invalid responses > cuts off an endless body at the limit, without a retry",
        "http/exchange.test.ts > invalid responses > does not read a body announced as too large",
      ),
      threat(
        "A webhook is forged, or an old one is sent again.",
        "The signature is checked over the raw bytes, in constant time, with a tolerance of 300 seconds.",
        "contract/signature-mutations.property.test.ts > are all rejected, and the originals accepted",
        "client/verify-webhook.test.ts > accepts a signature 300 seconds old and rejects one of 301",
      ),
      threat(
        "A handler of webhooks redirects a signed event to another server.",
        "Redirects of handlers are not followed.",
        "cli/webhooks/trigger.test.ts > does not follow a redirect",
      ),
      threat(
        "JSON with thousands of levels in a response crashes the program.",
        "One reader of JSON, with 100 levels and without recursion.",
        "cli/deep-json.test.ts > exits with 7 in cat %s",
        "json.test.ts > has 100 levels at most",
        "json.test.ts > every other file reads JSON with parseJson",
      ),
      threat(
        "An odd response to a write hides what was done: a secret, an import, paid images.",
        "What was done is recorded before the rest of the response is checked.",
        "cli/deep-json.test.ts > prints the secret of a created webhook, then exits with 7",
      ),
      threat(
        "A part of a list passes for all of it.",
        "A list ends by both signs, and an entry that comes twice is given once.",
        "client/pages.test.ts > fails after the entries that came if %s",
        "client/pages.test.ts > fails for a page that repeats an earlier one, also a part of it, and however long ago",
      ),
      threat(
        "A gateway answers 413 although it has passed the request on.",
        "The service is asked under the same key before anything is cut.",
        "flows/import/too-large.test.ts > is not sent again with another key if the gateway has passed it on: nothing is imported twice",
        "cli/generate/queue.test.ts > is paid for once if the gateway has passed it on, also by the next command",
      ),
      threat(
        "A cache on the way keeps a poll from ending.",
        "Reads send Cache-Control: no-cache.",
        "client/poll.test.ts > polling asks caches on the way for a new response each time",
      ),
      threat(
        "A webhook is deleted behind its listener.",
        "The listener reads its webhook every minute, and registers it again.",
        "cli/webhooks/listen-watch.test.ts > a listener reads its webhook every minute and registers again what was deleted, and handlers keep their secret",
      ),
    ],
  },
  {
    title: "Files of others",
    threats: [
      threat(
        "A reference that looks like another one makes a second product, or hides one.",
        "References that look equal are a problem that names both, in a file and at the service.",
        "rows/twin.test.ts > whatever the texts are: each reference that is imported has a look of its own",
      ),
      threat(
        "A lock file beside a sheet has terminal controls, or is not a file.",
        "Regular files of 1 KB at most are read, and shown as escapes.",
        "rows/door-words.test.ts > %j with %j",
      ),
      threat(
        "A list with a row per photo is imported with one photo of each product.",
        "The product is rejected with all its rows, and the flag is offered.",
        "rows/merge.test.ts > --skip-invalid imports no part of a product: all its rows are in the failed file, which the flag imports",
      ),
      threat(
        "Rows of two products under one reference become one.",
        "Names, descriptions and sexes must agree.",
        "rows/merge.test.ts > %s is refused at the line of the row",
      ),
      threat(
        "A spreadsheet shortens two codes to one text, and a product is lost.",
        "A lost reference is a problem of its own, never a duplicate to remove.",
        "rows/damage.test.ts > two references whose digits are lost are no duplicates, and no row is given up for them",
      ),
      threat(
        "A damaged reference creates a second product next to the existing one.",
        "The meant reference is read first, then a note or a question.",
        "rows/damage.test.ts > are named before anything is sent, by an import and by a plan",
      ),
      threat(
        "A guessed encoding imports wrong names.",
        "One is recommended only if no other is close, else samples to choose from.",
        "rows/encoding.test.ts > of %d names gets its encoding alone, or among three, and never another one alone",
      ),
      threat(
        "A binary file is imported as text in some encoding.",
        "Control characters decide first, and no encoding is named.",
        "rows/encoding.test.ts > random bytes",
      ),
      threat(
        "A list of products is deleted from the wrong sheet.",
        "No sheet is taken where several have the columns.",
        "rows/sheet.test.ts > %s of %s",
      ),
      threat(
        "A sheet that was sorted with its header loses the rows above it.",
        "Rows with a photo above the header reject the file.",
        "rows/header.test.ts > titles, comments and groups above the header are not read, with a note > unless they are rows, as in a sheet that was sorted with its header: %s",
      ),
      threat(
        "Text of seven bits is imported as garbage.",
        "Its escapes are a wrong encoding.",
        "rows/encoding.test.ts > says what to do about > %s",
      ),
      threat(
        "Rows above a second header are skipped as titles.",
        "A line that looks like data is never a title.",
        "rows/header.test.ts > %s stays the header: no row is taken for a title",
      ),
      threat(
        "A message about a path of another machine reveals files outside the folder.",
        "Only the folder is searched.",
        "rows/door-photos.test.ts > reveals nothing about files outside the folder",
      ),
      threat(
        "A new failed file replaces a file of the user.",
        "Only files with the columns of a failed file are renamed over, and never an input.",
        "cli/files/earlier-failed-files.test.ts > files that are no failed files are never replaced by earlier ones",
      ),
      threat(
        "A kill during an import loses or doubles photos.",
        "What a row said before is kept until the row is done, and each write is recorded first.",
        "flows/import/kills.test.ts > is the same after a kill at any step",
      ),
      threat(
        "A ZIP writes outside the folder, creates links, or expands without end.",
        "All entries are judged before the first one is written.",
        "flows/export/archive/hostile-archives.test.ts > the extraction of ZIPs rejects %s, and leaves nothing",
        "flows/export/archive/hostile-names.test.ts > the extraction of ZIPs rejects an archive with the name %j",
        "flows/export/archive/extract.property.test.ts > extracts any set of entries byte for byte, or rejects it and leaves nothing",
      ),
      threat(
        "A small workbook expands to gigabytes, or has entities.",
        "Sizes are counted while reading, and entities are rejected.",
        "flows/workbook/bombs.test.ts > a small workbook with a GB of one thing exits with 3, within 200 MB and 20 s of the processor:",
        "flows/workbook/hostile.test.ts > a hostile or broken file gets one clear line, or its right rows:",
      ),
      threat(
        "A path of a sheet uploads a private file from another folder.",
        "Photos stay in the folder of the sheet, unless `--images-outside` is given.",
        "flows/photos/local-photos.test.ts > the root of photos > forbids the targets of links inside it, at the end of a path or in its middle",
        "cli/import/local-photos.test.ts > photos are relative to --images-root, and cannot be outside of it",
      ),
      threat(
        "A text of a file or of the service makes a regular expression run for minutes.",
        "Expressions are linear, and texts are cut first.",
        "expressions/expressions.test.ts > no expression of the program takes time by the square of its text",
        "cli/long-texts.test.ts > a hostile number in an .%s takes no time",
        "cli/long-texts.test.ts > hostile XMP takes no time: %s",
      ),
      threat(
        "JSON with thousands of levels in a file crashes the program.",
        "The same reader, with the error of the file.",
        `cli/deep-json.test.ts > with %i levels exits with \${exit}, and sends no write`,
      ),
      threat(
        "A wrong file deletes the catalogue.",
        "More than 20 products and a tenth need --max-delete.",
        "cli/removals.test.ts > of %i products, %i with %j exit with %i",
      ),
    ],
  },
  {
    title: "Other users of the machine",
    threats: [
      threat(
        "Signed URLs of photos are left on the disk by their check.",
        "Only digests are kept, in a file for the user alone.",
        "cli/import/check-photos.test.ts > --check-photos asks for the ETag of a photo again, and for its bytes after a day or a change (needs openssl)",
      ),
      threat(
        "Two sandboxes save one file, and the state of one is lost.",
        "A lock of the system; a state that was not loaded is never replaced.",
        "cli/serve.test.ts > the state file > belongs to one sandbox at a time > a second one exits with 2 and names the address of the first, whatever the flags",
        "cli/serve.test.ts > the state file > is written only if it is the one that was loaded > a file that changed while the sandbox was running stays",
      ),
      threat(
        "Two machines write decisions of a mirror at once, and one is lost.",
        "A lock in a folder, a conditional write in a bucket. A file that cannot be read is never replaced.",
        "cli/export/team.test.ts > decisions of two reviewers reach a server by the mirror > in a bucket at the same moment: none gets lost",
        "cli/export/team.test.ts > the decisions of a mirror > are never replaced where they cannot be read",
      ),
      threat(
        "A server that knows no decisions publishes or deletes images.",
        "--approved without any decision exits with 3, and removes nothing.",
        "cli/export/approved.test.ts > cat export sync --approved > exits with 3 without any decision, and removes nothing",
      ),
      threat(
        "A link in place of a folder leads a file to a private folder.",
        "Each folder of a path is checked, also behind links of this user.",
        "flows/files/foreign-links.test.ts > in place of a folder of the path is not followed, nor behind a link of this user",
      ),
      threat(
        "Another user replaces the compiled code that the program keeps, or its folder.",
        "The code is in the user's own folder of caches; each folder above is writable by no one else.",
        "bin/planted-code.test.ts > does not run from a folder of caches %s",
        "bin/planted-code.test.ts > does not run from a folder that another user has made first in a sticky one",
      ),
      threat(
        "A link is in place of a file of kept code, or the code is of another source.",
        "No links are followed, and the source is compared in full.",
        "bin/kept-code.test.ts > of %s is not used",
        "bin/kept-code.test.ts > is used for no other source, whatever its length",
      ),
      threat(
        "NODE_COMPILE_CACHE names a folder of others.",
        "The program does not use it. Node itself may read its first files from there.",
        "bin/kept-code.test.ts > of NODE_COMPILE_CACHE is not used, nor of the temporary folder or CAT_HOME, and nothing is written there",
      ),
      threat(
        "Links are planted at unfinished files, so that a private file is overwritten.",
        "Random names, and files are opened exclusively without following links.",
        "open-file.test.ts > is not followed by %s (%s)",
        "opened-for-writing.test.ts > only src/open-file.ts opens files for writing, but for the exceptions",
      ),
      threat(
        "Links are planted at every path that a command uses in a shared folder.",
        "Links of other users are not followed.",
        "bin/planted-links.test.ts > links of another user at every file of %j change nothing that they lead to",
      ),
      threat(
        "Another user makes the hidden folder of a mirror first.",
        "It must have the same owner, and is closed to others.",
        "bin/planted-links.test.ts > a mirror whose hidden folder another user has made is exit 2, with the way out",
      ),
      threat(
        "Another user leaves a part of a download.",
        "It is not resumed.",
        "flows/files/download-file.test.ts > of another user is not resumed",
      ),
      threat(
        "Other programs use up the open files.",
        "The limit is checked first. Later the program waits, then exits with 2.",
        "bin/few-files.test.ts > %s with 22 open files at most is exit 2, and says how many it needs",
      ),
      threat(
        "Another current folder chooses another state.",
        "Relative folders count as not set, or are rejected.",
        "cli/settings/home-folder.test.ts > never depends on the current folder, and an unusable variable changes nothing",
      ),
    ],
  },
  {
    title: "Texts of others",
    threats: [
      threat(
        "A URL contains characters that cannot be seen, and is not the one that is shown.",
        "They are cut at its ends, and a problem inside it.",
        "rows/url.test.ts > objects are judged as cells are, and what cannot be seen at the ends of a URL is cut",
      ),
      threat(
        "A cell with thousands of photos takes minutes.",
        "A cell is divided once.",
        "cli/long-texts.test.ts > a cell with 16,000 photos takes no time",
      ),
      threat(
        "A list with empty pages never ends.",
        "20 empty pages in a row are an error.",
        "client/pages.test.ts > fails at the 20th of pages in a row that are empty, and counts anew after an entry",
      ),
      threat(
        "Control characters of the service or of a file change the terminal.",
        "Control characters are shown as escapes.",
        "cli/every-command/hostile-text.test.ts > controls and an echoed key in any response are neutral in the output and the logs of every command",
        "cli/output/visible.test.ts > the output escapes every invisible character, and leaves visible ones unchanged",
      ),
      threat(
        "A product name runs a script in the gallery or in the page of the mock.",
        "Texts are text. The page of the mock has a policy that stops other scripts.",
        "flows/generate/gallery/hostile-names.test.ts > hostile names do nothing but show",
        "mock/page/access.test.ts > hostile texts > are text in every tab, never markup",
        "mock/page/access.test.ts > the policy of the page > stops a script that is added",
      ),
      threat(
        "A long message of the service fills the screen.",
        "People see 500 characters.",
        "cli/long-texts.test.ts > a message of the service of 50 kB is shown to people with 500 characters, and with --json as it is",
      ),
      threat(
        "A cell that the program writes runs as a formula.",
        "Each cell that was not in the user's file is guarded, in every CSV.",
        "flows/outputs/guarded-cell.test.ts > an output for spreadsheets puts an apostrophe before each part of %j that another program takes for a cell",
        "flows/outputs/failed-reasons.test.ts > the reasons in a failed file are guarded, and the user's own cells stay as they are",
      ),
      threat(
        "A line of a table is a command of GitHub Actions.",
        "What is for people is escaped on both streams.",
        "cli/reports/github-commands.test.ts > GitHub carries out no line of a table: %s",
      ),
      threat(
        "An invisible character hides in a name.",
        "It is shown as an escape.",
        "cli/output/visible.test.ts > %j is shown as %j",
      ),
    ],
  },
  {
    title: "Agents",
    threats: [
      threat(
        "A tool reads or uploads a file from another folder.",
        "Paths stay in --root, wherever links lead.",
        "cli/mcp/root.test.ts > %s out of the root is denied for files, photos and folders",
      ),
      threat(
        "A link leads the results of a tool to another folder.",
        "Tools write to no links.",
        "cli/mcp/root.test.ts > results are not written through links",
      ),
      threat(
        "An agent deletes or generates what no person wanted.",
        "A person agrees each time; without one nothing is done.",
        "cli/mcp/confirmation.test.ts > a client %s that cannot ask generates and deletes nothing",
      ),
      threat(
        "An agent makes up or repeats the decision of a person.",
        "Each question has a random key that counts once.",
        "cli/mcp/confirmation.test.ts > a made-up answer in the first call does nothing",
      ),
      threat(
        "An agent spends more than its limit by restarts.",
        "The images of a day are counted in the state.",
        "cli/mcp/confirmation.test.ts > the generations of a day are counted over restarts, and by each session alike",
      ),
      threat(
        "The name of a product gives instructions to an agent.",
        "It is JSON data, and questions show its control characters.",
        "cli/mcp/hostile.test.ts > instructions in the name of a product stay data",
      ),
      threat(
        "A client floods the server with long lines or calls.",
        "One message has 1 MB at most, and 200 calls wait.",
        "cli/mcp/hostile.test.ts > a line of 50 MB ends the connection, and is not kept",
      ),
    ],
  },
  {
    title: "Mock service",
    threats: [
      threat(
        "A web page of another origin reads or changes the mock by its control routes.",
        "Control routes respond only to a loopback Host and to their own origin.",
        "mock/control/access.test.ts > the Host of a request to the control routes",
        "mock/control/access.test.ts > a web page of another origin",
        "mock/page/access.test.ts > a page of another origin can neither read nor post",
      ),
      threat(
        "A web page reads the copy of a real catalogue with the public key.",
        "A copy has random keys alone, in a file with mode 0600.",
        "cli/serve/clone.test.ts > a copy has random keys alone, which its saved file keeps",
      ),
      threat(
        "A key that can be guessed is added to a copy.",
        "Its keys have at least 16 characters after ak_.",
        "cli/serve/clone.test.ts > a mock with real data takes no key that can be guessed, from a file, a request or a test",
      ),
      threat(
        "A web page makes the mock post to another server of this machine.",
        "Requests of pages of another origin get the strict URL policy.",
        "mock/routes/webhooks.test.ts > names no target on this machine, unless the mock sent the page: %o %d",
      ),
    ],
  },
  {
    title: "Ends",
    threats: [
      threat(
        "Two processes pay for one look.",
        "A look is claimed in the transaction that records its request.",
        "state/looks.test.ts > a look is claimed by one of two processes, and by the other one once its request was dropped",
      ),
      threat(
        "A declined --fresh pays for everything later.",
        "A run is resumed with its flags only once it has sent something.",
        "cli/generate/grown-sheet.test.ts > a sheet that has grown > generates only its new look after a --fresh that was declined, or stopped by a limit",
      ),
      threat(
        "A killed run and an edited sheet pay twice.",
        "The service is asked about a request without a response before anything is sent.",
        "cli/generate/grown-sheet.test.ts > a request of another run without a response > that the service has had is paid once: its tasks are found",
      ),
      threat(
        "One Ctrl-C arrives as two signals, and stops a save in the middle.",
        "Signals within one second are one request; what must be finished gets 5 seconds.",
        "cli/context/interrupts.test.ts > signals within one second are one request, whatever their names: pnpm sends SIGINT, then SIGTERM",
        "cli/webhooks/listen-watch.test.ts > a second interrupt leaves time to delete the webhook, and reports one that is left after 5 s",
      ),
      threat(
        "A terminal that closes while a question is open is an internal error.",
        "A closed terminal ends the question like SIGHUP.",
        "cli/app/prompts.test.ts > a terminal that is closed while a question is open ends the command with SIGHUP, and no error is left",
      ),
      threat(
        "A closed terminal hides the exit status.",
        "Terminals that are gone are closed before Node restores them.",
        "bin/ends.test.ts > the parent sees the documented status of a command whose terminal closes",
      ),
    ],
  },
  {
    title: "Releases",
    threats: [
      threat(
        "An unknown package is in a release.",
        "A bill of materials is made by the build, and compared with its inputs.",
        "package/sbom.test.ts > has the packages that esbuild reads for the same programs, and no others, as bundled",
      ),
      threat(
        "An image tag is replaced.",
        "Container images have digests.",
        "containers/images.test.ts > every container image has a digest, the same in all places, because a tag can get another image",
      ),
      threat(
        "Flags of the GitHub action run a command.",
        "A bare -- is rejected.",
        "containers/action.test.ts > flags with a bare -- are rejected before anything runs: %j",
      ),
      threat(
        "A download of a release is cut or changed.",
        "Its SHA-256 is compared before it is unpacked, and nothing is installed.",
        "portable/install-sh.test.ts > rejects a file that is cut, changed or missing, and leaves what is installed",
      ),
      threat(
        "The network changes a release and its sums together.",
        "Only https is used, or this machine.",
        "portable/install-sh.test.ts > says what is wrong with its options, and downloads nothing unencrypted",
      ),
      threat(
        "The sums of a release name a path outside the folder.",
        "One exact file name is accepted.",
        "portable/install-sh.test.ts > rejects sums without exactly one archive for this system",
      ),
      threat(
        "An installer is cut in a pipe, and half of it runs.",
        "It runs by its last line.",
        "portable/install-sh.test.ts > works from a pipe, as from a download, and does nothing if the script is cut",
      ),
      threat(
        "An installer replaces a program of the user.",
        "Only its own links are replaced.",
        "portable/install-sh.test.ts > replaces no program that it has not installed",
      ),
      threat(
        "The registry serves another Node for a portable archive.",
        "Its digest is in the script.",
        "portable/portable.test.ts > a release > is not made of a package with Node that has another content",
      ),
      threat(
        "An input of the GitHub action runs a command, or leads to another address.",
        "A version has one form, and inputs come by the environment.",
        "containers/action.test.ts > fails with a next step, before anything is installed: %j",
      ),
      threat(
        "A new version in the registry gets into an image.",
        "It is built by npm ci with the lockfile, without scripts.",
        "containers/dockerfile.test.ts > the build gets the packed package and the lockfile alone, and compiles nothing",
      ),
      threat(
        "An argument of a batch file runs a command in cmd.",
        "Its signs are escaped, and what cmd would read twice is rejected.",
        "cli/serve/run-another.test.ts > on Windows, cmd gets the arguments of a batch file with each of its signs escaped",
      ),
      threat(
        "The path of the portable program runs a command in cmd.",
        "The launcher quotes its folder.",
        "portable/portable.test.ts > a release > its archive for Windows imports a file and undoes it by its launchers, from a folder with a space and &",
      ),
      threat(
        "A package of the build takes the identity of the publisher.",
        "Only a job that runs npm publish alone has that identity.",
        "portable/workflow.test.ts > each job of it may do what it needs alone: the one with the identity runs no package",
      ),
      threat(
        "An installation replaces the system's cat.",
        "npm stops and the file stays; the pages say not to force it.",
        "package/managers.test.ts > the packed package, installed afresh > by npm into a folder that has the system's cat, such as /usr/bin, nothing is installed, and that cat stays",
      ),
      threat(
        "A power cut leaves an incomplete image under its name.",
        "Its bytes are on the disk before it gets its name.",
        "flows/generate/killed-save.test.ts > a save that is killed, or loses its power, between any two steps of a batch is completed by the next one",
      ),
      threat(
        "A disk that fills up loses images that were saved.",
        "Only files without a name are removed.",
        "bin/full-batch.test.ts > a mirror on a disk that fills up keeps its images, names one without room, and is completed",
      ),
    ],
  },
];
