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
        "cli/context/os-keychain.test.ts > the child gets no secret in its arguments or its environment",
      ),
      threat(
        "A key appears in an error, a log, a report or a file.",
        "Streams and files mask the key and secrets, also where the service repeats them.",
        "cli/every-command/echoed-key.test.ts > a key that the service repeats in every text > is in no file and on no stream",
        "cli/secrets.test.ts > an API key that was typed into the wrong place is not shown",
        "cli/every-command/secrets.test.ts > the walk finds a secret that is not masked",
      ),
      threat(
        "A program that a command starts reads a key of the keychain.",
        "A key of the keychain is in no environment.",
        "cli/every-command/secrets.test.ts > a program that a command runs does not get a key of the keychain",
      ),
    ],
  },
  {
    title: "Servers of others",
    threats: [
      threat(
        "A photo URL makes the mock reach a server of the private network, also by a name that resolves differently later.",
        "The URL policy checks the name and each address. A request connects only to the checked address.",
        "contract/url-policy.test.ts > the URL policy",
        "mock/outgoing/outgoing.test.ts > a forbidden address > cannot be reached by a name that resolves differently later: each request resolves it once",
        "mock/outgoing/outgoing.test.ts > a forbidden address > cannot be reached by a second lookup: the real network connects only to the given addresses",
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
    ],
  },
  {
    title: "Files of others",
    threats: [
      threat(
        "A ZIP writes outside the folder, creates links, or expands without end.",
        "All entries are judged before the first one is written.",
        "flows/export/archive/hostile-archives.test.ts > rejects %s, and leaves nothing",
        "flows/export/archive/hostile-names.test.ts > rejects an archive with the name %j",
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
    ],
  },
  {
    title: "Texts of others",
    threats: [
      threat(
        "Control characters of the service or of a file change the terminal.",
        "Control characters are shown as escapes.",
        "cli/every-command/hostile-text.test.ts > controls and an echoed key in any response are neutral in the output and the logs of every command",
        "cli/output/visible.test.ts > escapes every invisible character, and leaves visible ones unchanged",
      ),
      threat(
        "A product name runs a script in the gallery or in the page of the mock.",
        "Texts are text. The page of the mock has a policy that stops other scripts.",
        "flows/generate/gallery/hostile-names.test.ts > hostile names do nothing but show",
        "mock/page/access.test.ts > hostile texts > are text in every tab, never markup",
        "mock/page/access.test.ts > the policy of the page > stops a script that is added",
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
    ],
  },
];
