import { type Command, Option } from "commander";
import { operations } from "../../contract/client-operations.ts";
import { limits, optionRanges } from "../../contract/limits.ts";
import type { Operations } from "../../contract/operations.ts";
import type { Webhook } from "../../contract/resources/webhooks.ts";
import { verifySignature } from "../../contract/signature.ts";
import { signatureHeader } from "../../contract/signature-header.ts";
import { type EventType, eventTypes } from "../../contract/value-sets.ts";
import { CatError } from "../../errors.ts";
import { carriedOut, hasId } from "../../flows/service-errors.ts";
import type { App } from "../app/app.ts";
import { confirmAction } from "../app/confirm-action.ts";
import { sendOnce, showDone } from "../app/send-once.ts";
import { UsageError } from "../context/errors.ts";
import { command, group } from "../flags/command.ts";
import { resourceId, wholeNumber } from "../flags/values.ts";
import { fieldColumns, replyFields } from "../resources/forms.ts";
import { getResource } from "../resources/get-resource.ts";
import { listResource } from "../resources/list-resource.ts";
import { signatureHeaderInUse } from "../settings/settings.ts";
import { eventTypeList } from "./listen/event-types.ts";
import { listenCommand } from "./listen/listen.ts";
import { replayCommand } from "./listen/replay.ts";
import { triggerCommand } from "./listen/trigger.ts";

/** `cat webhooks`: the webhooks of the service, and the events that they deliver. */
export const webhooksCommand = (app: App): Command =>
  group("webhooks", "Manage webhooks: URLs to which the service sends an event when a task or job ends.", [
    listCommand(app),
    getCommand(app),
    createCommand(app),
    updateCommand(app),
    deleteCommand(app),
    rotateCommand(app),
    listenCommand(app),
    replayCommand(app),
    triggerCommand(app),
    verifyCommand(app),
  ]);

const columns = fieldColumns<Webhook>(replyFields(operations.webhooks.get), [
  "id",
  "status",
  "url",
  "last_delivery_at",
]);

const listCommand = (app: App): Command =>
  listResource(app, {
    summary: "list webhooks",
    about: "List the webhooks of your organization.",
    operation: operations.webhooks.list,
    columns,
    none: () => "No webhooks yet. To create one: cat webhooks create --url URL --events all",
    examples: [["print the URLs of all webhooks", "cat webhooks list --all --json | jq -r .url"]],
  });

const getCommand = (app: App): Command =>
  getResource<Operations["webhooks"]["get"]>(app, {
    noun: "webhook",
    summary: "show a webhook",
    about: "Show one webhook. Its signing secret is shown only when it is created or rotated.",
    operation: operations.webhooks.get,
    columns,
    examples: [["print the status", "cat webhooks get ID --json | jq -r .status"]],
  });

const eventsFlag = (): Option =>
  new Option(
    "--events <EVENTS>",
    `events, separated by commas (repeatable), or all: ${eventTypes.join(", ")}`,
  ).argParser(eventTypeList);

const description = ["--description <TEXT>", "description for people"] as const;
const webhook = ["<ID>", "ID of the webhook"] as const;

interface CreateFlags {
  url: string;
  events: EventType[];
  description?: string;
}

const createCommand = (app: App): Command =>
  command("create", {
    summary: "create a webhook",
    usage: "--url URL --events EVENT,... [flags]",
    about:
      "Create a webhook and print its signing secret, which is shown only once. " +
      "The URL must be public and start with https://, and cannot be changed later.",
    examples: [
      ["receive every event", "cat webhooks create --url https://shop.example.com/events --events all"],
      [
        "keep the secret in a file",
        "cat webhooks create --url URL --events import.completed --json | jq -r .signing_secret > secret",
      ],
    ],
  })
    .requiredOption("--url <URL>", "URL that receives the events")
    .addOption(eventsFlag().makeOptionMandatory())
    .option(...description)
    .action(async (body: CreateFlags) => {
      const client = await app.client();
      const { interrupt: signal } = app.context;
      const created = sendOnce(
        (options) => carriedOut(client.webhooks.create({ body }, { ...options, signal }), hasIdOrSecret),
        "Delete a webhook whose secret you do not have before you create another: cat webhooks list",
      );
      await showDone(created, (shown) => showWithSecret(app, shown));
    });

/** Whatever else is wrong with a response: its secret must not be lost. */
const hasIdOrSecret = (shown: { readonly signing_secret?: string | undefined }): boolean =>
  hasId(shown) || typeof shown.signing_secret === "string";

/** Prints a webhook with its new signing secret, which the service shows only once (Webhooks). */
async function showWithSecret(app: App, shown: { readonly signing_secret?: string | undefined }) {
  if (typeof shown.signing_secret === "string") app.secrets.show(shown.signing_secret);
  await app.io.resource(shown);
  await app.io.note("Store the signing_secret now: the service does not show it again.");
}

interface UpdateFlags extends Partial<Omit<CreateFlags, "url">> {
  status?: "active" | "paused";
  clear?: "description";
}

/** Changes a webhook and prints it; not found ends in exit 5. */
const updateCommand = (app: App): Command =>
  command("update", {
    summary: "change, pause or resume a webhook",
    usage: "ID [flags]",
    about: "Change a webhook. Fields without a flag stay as they are; the URL cannot be changed.",
    examples: [["pause a webhook", "cat webhooks update ID --status paused"]],
  })
    .argument(...webhook)
    .addOption(eventsFlag())
    .addOption(new Option("--status <STATUS>", "whether it receives events").choices(["active", "paused"]))
    .option(...description)
    .addOption(
      new Option("--clear <FIELD>", "remove the value of a field")
        .choices(["description"])
        .conflicts("description"),
    )
    .action(async (text: string, { clear, ...set }: UpdateFlags) => {
      const body = { ...set, ...(clear !== undefined && { [clear]: null }) };
      if (Object.keys(body).length === 0) {
        throw new UsageError("nothing to change", {
          code: "nothing_to_change",
          hint: "Add --events, --status, --description or --clear.",
        });
      }
      const webhook_id = resourceId(text, "webhook");
      const client = await app.client();
      const { interrupt: signal } = app.context;
      const updated = carriedOut(client.webhooks.update({ webhook_id, body }, { signal }));
      await showDone(updated, (shown) => app.io.resource(shown));
    });

/** The ID of a webhook, once the user agreed to what is done with it. The question names its URL. */
async function confirmedId(
  app: App,
  text: string,
  ask: (url: string) => Parameters<typeof confirmAction>[1],
): Promise<string> {
  const webhook_id = resourceId(text, "webhook");
  if (app.globals.yes) return webhook_id;
  const client = await app.client();
  const { url } = await client.webhooks.get({ webhook_id }, { signal: app.context.interrupt });
  await confirmAction(app, ask(url));
  return webhook_id;
}

/** Deletes a webhook; not found ends in exit 5. */
const deleteCommand = (app: App): Command =>
  command("delete", {
    summary: "delete a webhook",
    usage: "ID [flags]",
    about: "Delete a webhook. Its events are no longer delivered.",
    examples: [["delete a webhook in a script", "cat webhooks delete ID --yes"]],
  })
    .argument(...webhook)
    .action(async (text: string) => {
      const id = await confirmedId(app, text, (url) => ({
        question: `Delete the webhook for ${url}?`,
        reason: `deleting the webhook for ${url} needs a confirmation`,
        left: "nothing was deleted",
      }));
      const client = await app.client();
      await client.webhooks.delete({ webhook_id: id }, { signal: app.context.interrupt });
      if (app.io.json) await app.io.jsonData({ id, deleted: true });
      else await app.io.note(`Deleted webhook ${id}.`);
    });

/** Rotates the secret after a question: receivers reject events until they have the new one. */
const rotateCommand = (app: App): Command =>
  command("rotate", {
    summary: "replace the signing secret of a webhook",
    usage: "ID [flags]",
    about:
      "Replace the signing secret of a webhook and print the new one, which is shown only once. " +
      "The old secret stops working immediately.",
    examples: [["keep the secret in a file", "cat webhooks rotate ID --yes --json | jq -r .signing_secret"]],
  })
    .argument(...webhook)
    .action(async (text: string) => {
      const webhook_id = await confirmedId(app, text, (url) => ({
        question: `Replace the secret of the webhook for ${url}?`,
        about: "Receivers with the old secret reject all events from then on.",
        reason: `replacing the secret of the webhook for ${url} needs a confirmation`,
        left: "the secret was not replaced",
      }));
      const client = await app.client();
      const input = { webhook_id, body: { rotate_secret: true } };
      const rotated = carriedOut(
        client.webhooks.update(input, { signal: app.context.interrupt }),
        hasIdOrSecret,
      );
      await showDone(rotated, (shown) => showWithSecret(app, shown));
    });

interface VerifyFlags {
  /** The value, perhaps copied with the name of the header. */
  header: string;
  /** The file with the body as typed; `-` for standard input. */
  file: string;
  /** In seconds. */
  tolerance: number;
}

const verifyCommand = (app: App): Command =>
  command("verify", {
    summary: "check the signature of a delivery, offline",
    usage: "--header VALUE [flags]",
    about:
      "Check the signature of a delivery with CAT_WEBHOOK_SECRET, and say why it is wrong. " +
      "The body must be the bytes as received. Exits with 0 for a valid signature, and 3 for any other.",
    examples: [
      [
        "check a stored delivery of any age",
        'cat webhooks verify --header "$HEADER" --file body.json --tolerance 999999999',
      ],
    ],
  })
    .requiredOption("--header <VALUE>", `value of the header ${signatureHeader}`)
    .option("--file <FILE>", "file with the body, or - for standard input", "-")
    .option(
      "--tolerance <SECONDS>",
      "maximum distance of the timestamp from now",
      wholeNumber(optionRanges.toleranceSeconds),
      limits.signatureToleranceSeconds,
    )
    .action((flags: VerifyFlags) => verify(app, flags));

/** Checks one delivery. Throws a CatError (exit 3) with the reason if its signature is not valid. */
async function verify(app: App, { header, file, tolerance }: VerifyFlags): Promise<void> {
  const { clock } = app.context;
  const { webhookSecret } = await import("./listen/handlers.ts");
  const secret = await webhookSecret(app);
  const headerName = await signatureHeaderInUse(app.globals, app.context);
  const delivery = {
    header: header.trim().replace(/^[\w-]+:\s*/, ""),
    rawBody: await readBody(app, file),
    secret,
    toleranceSeconds: tolerance,
  };
  const verdict = verifySignature({ ...delivery, now: clock.now() });
  if (!verdict.ok) {
    const { explainRejection } = await import("../../flows/listen/explain-rejection.ts");
    const { code, message, hint } = explainRejection(verdict, delivery, headerName);
    throw new CatError(`invalid signature: ${message}`, { type: "input", code, hint });
  }
  const age_seconds = Math.floor(clock.now() / 1000) - verdict.timestamp;
  if (app.io.json) return app.io.jsonData({ valid: true, age_seconds });
  const age = age_seconds < 0 ? `${-age_seconds} s in the future` : `${age_seconds} s ago`;
  await app.io.data(`valid: signed ${age}\n`);
}

/** The bytes of a file, or of standard input for `-`. Throws UsageError if it cannot be read. */
async function readBody(app: App, file: string): Promise<Uint8Array> {
  if (file === "-" && app.context.stdin.isTTY) {
    throw new UsageError("no body to check", {
      param: "--file",
      hint: "Add --file FILE, or send the body to standard input.",
    });
  }
  const { readBytes } = await import("../files/read-bytes.ts");
  return readBytes(file, app.context, {
    // A delivery names one resource and its status (Events, Delivery).
    bytes: 10_000_000,
    shown: "10 MB",
    param: "--file",
    hint: "Choose the file with the body of one delivery.",
  });
}
