import { Argument, type Command, InvalidArgumentError, Option } from "commander";
import { ulidPattern } from "../../../contract/limits.ts";
import { type EventType, eventTypes } from "../../../contract/value-sets.ts";
import type { SampleIds, TortureResult } from "../../../flows/listen/trigger.ts";
import { counted } from "../../../flows/words.ts";
import type { App } from "../../app/app.ts";
import { command } from "../../flags/command.ts";
import { type RawPrintFlags, readPrintFlags, withPrintFlags } from "../../flags/print-flags.ts";
import { wholeNumber } from "../../flags/values.ts";
import { namedForm } from "../../resources/forms.ts";
import { handlerUrl } from "./event-types.ts";

interface TriggerFlags extends RawPrintFlags {
  to: URL;
  id?: SampleIds;
  times: number;
  torture?: true;
}

export const triggerCommand = (app: App): Command =>
  withPrintFlags(
    command("trigger", {
      summary: "send a signed sample event to a handler",
      usage: "EVENT --to URL [flags]",
      about:
        "Send a sample event to your handler, signed with CAT_WEBHOOK_SECRET. " +
        "With --torture, send what goes wrong in practice: duplicates, events out of order, slow and huge bodies, " +
        "forged signatures and stale timestamps.",
      examples: [
        [
          "send an event to a local handler",
          "cat webhooks trigger import.completed --to http://127.0.0.1:3000",
        ],
        ["send the same event twice", "cat webhooks trigger task.failed --to URL --id evt_1 --times 2"],
        ["test a handler", "cat webhooks trigger task.succeeded --to URL --torture"],
      ],
    })
      .addArgument(new Argument("<EVENT>", "type of the event").choices(eventTypes))
      .requiredOption("--to <URL>", "URL of the handler", handlerUrl)
      .option("--id <ID>", "ID of the event (evt_...), or of its task, import or export", sampleIds)
      .option(
        "--times <N>",
        "number of deliveries; with an event ID, of the same event",
        wholeNumber({ min: 1, max: 10_000 }),
        1,
      )
      .addOption(
        new Option("--torture", "send difficult deliveries and report the responses").conflicts([
          "times",
          "id",
        ]),
      ),
  ).action((type: EventType, flags: TriggerFlags) =>
    flags.torture ? torture(app, type, flags) : trigger(app, type, flags),
  );

function sampleIds(text: string): SampleIds {
  const id = text.trim();
  if (/^evt_[\w-]{1,100}$/.test(id)) return { eventId: id };
  if (new RegExp(ulidPattern).test(id)) return { resourceId: id };
  throw new InvalidArgumentError("use an event ID (evt_...), or an ID of 26 capital letters and digits");
}

/** Sends sample events. Exits with 8 if the handler rejects some, 7 if it cannot be reached. */
async function trigger(app: App, type: EventType, flags: TriggerFlags): Promise<void> {
  const { deliverAll, deliveredForm, openTarget } = await import("./handlers.ts");
  const printing = readPrintFlags(flags, deliveredForm);
  const target = await openTarget(app, flags.to);
  const makeEvent = await eventMaker(app);
  function* events() {
    for (let sent = 0; sent < flags.times; sent++) {
      const event = makeEvent(type, flags.id ?? {});
      yield { id: event.id, type, body: JSON.stringify(event) };
    }
  }
  await deliverAll(app, target, events(), printing);
}

async function eventMaker({ context: { clock, random } }: App) {
  const { sampleEvents } = await import("../../../flows/listen/trigger.ts");
  return sampleEvents({ now: () => clock.now(), random: () => random() });
}

const tortureForm = namedForm<TortureResult>(
  [
    { name: "delivery", value: ({ name }) => name },
    { name: "expected", value: ({ expected }) => expected },
    { name: "response", value: ({ responses }) => responses.join(", ") },
    { name: "result", value: ({ ok }) => (ok ? "ok" : "WRONG") },
  ],
  ["name", "expected", "responses", "ok", "why"],
);

/** Sends difficult deliveries and reports the responses. Exits with 8 if some are wrong, 7 without any. */
async function torture(app: App, type: EventType, flags: TriggerFlags): Promise<void> {
  const printing = readPrintFlags(flags, tortureForm);
  const { openTarget, reportHandler, reportUnreachable } = await import("./handlers.ts");
  const target = await openTarget(app, flags.to);
  const makeEvent = await eventMaker(app);
  const flow = await import("../../../flows/listen/trigger.ts");
  const sleep = (ms: number) => app.context.clock.sleep(ms, target.signal);
  const all: TortureResult[] = [];
  async function* results() {
    for await (const result of flow.torture({ type, makeEvent, target, sleep })) {
      all.push(result);
      yield result;
    }
  }
  await app.io.show(printing, results());
  const wrong = all.filter(({ ok }) => !ok).length;
  if (wrong === 0) return app.io.note("The handler passed every check.");
  if (all.every(({ failure }) => failure === "unreachable")) return reportUnreachable(app, all[0]?.hint);
  for (const { name, why } of all) if (why !== undefined) await app.io.note(`${name}: ${why}`);
  const failed = `handler failed ${counted(wrong, "check")} of ${all.length}`;
  await reportHandler(app, failed, "Compare it with the receivers in docs/webhooks.md.");
}
