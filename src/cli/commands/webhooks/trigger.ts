import { Argument, type Command, InvalidArgumentError, Option } from "commander";
import { ulidPattern } from "../../../contract/limits.ts";
import { type EventType, eventTypes } from "../../../contract/value-sets.ts";
import type { SampleIds, TortureResult } from "../../../flows/listen/trigger.ts";
import { counted } from "../../../flows/words.ts";
import type { App } from "../../app/app.ts";
import { ExitCode } from "../../context/exit.ts";
import { command, examples } from "../../flags/command.ts";
import { handlerUrl } from "../../flags/handler-url.ts";
import { type RawPrintFlags, readPrintFlags, withPrintFlags } from "../../flags/print-flags.ts";
import { wholeNumber } from "../../flags/values.ts";
import type { Printing } from "../../output/printing.ts";
import { namedForm } from "../../resources/named-form.ts";
import { type Delivered, deliveredForm, reportDelivered, toDelivered } from "./delivered.ts";
import { openTarget } from "./open-target.ts";

interface TriggerInput {
  type: EventType;
  to: URL;
  ids: SampleIds;
  times: number;
  printing: Printing<Delivered>;
}

/** `cat webhooks trigger`: parses the argument and the flags; `run` does the work. */
export const triggerCommand = (app: App, run = trigger, runTorture = torture): Command =>
  withPrintFlags(
    command("trigger")
      .summary("send a signed sample event to a handler")
      .usage("EVENT --to URL [flags]")
      .description(
        "Send a sample event to your handler, signed with CAT_WEBHOOK_SECRET. " +
          "With --torture, send what goes wrong in practice: duplicates, events out of order, slow and huge bodies, " +
          "forged signatures and stale timestamps.",
      )
      .addArgument(new Argument("<EVENT>", "type of the event").choices(eventTypes))
      .addOption(new Option("--to <URL>", "URL of the handler").argParser(handlerUrl).makeOptionMandatory())
      .addOption(
        new Option("--id <ID>", "ID of the event (evt_...), or of its task, import or export").argParser(
          sampleIds,
        ),
      )
      .addOption(
        new Option("--times <N>", "number of deliveries; with an event ID, of the same event")
          .default(1)
          .argParser(wholeNumber({ min: 1, max: 10_000 })),
      )
      .addOption(
        new Option("--torture", "send difficult deliveries and report the responses").conflicts([
          "times",
          "id",
        ]),
      ),
  )
    .addHelpText(
      "after",
      examples([
        [
          "send an event to a local handler",
          "cat webhooks trigger import.completed --to http://127.0.0.1:3000",
        ],
        ["send the same event twice", "cat webhooks trigger task.failed --to URL --id evt_1 --times 2"],
        ["test a handler", "cat webhooks trigger task.succeeded --to URL --torture"],
      ]),
    )
    .action(
      async (
        type: EventType,
        {
          to,
          id = {},
          times,
          torture: isTorture = false,
          ...flags
        }: { to: URL; id?: SampleIds; times: number; torture?: boolean } & RawPrintFlags,
      ) =>
        isTorture
          ? runTorture(app, { type, to, printing: readPrintFlags(flags, tortureForm) })
          : run(app, { type, to, ids: id, times, printing: readPrintFlags(flags, deliveredForm) }),
    );

function sampleIds(text: string): SampleIds {
  const id = text.trim();
  if (/^evt_[\w-]{1,100}$/.test(id)) return { eventId: id };
  if (new RegExp(ulidPattern).test(id)) return { resourceId: id };
  throw new InvalidArgumentError("use an event ID (evt_...), or an ID of 26 capital letters and digits");
}

/** Sends sample events. Exits with 8 if the handler rejects some, 7 if it cannot be reached. */
export async function trigger(app: App, { type, to, ids, times, printing }: TriggerInput): Promise<void> {
  const target = await openTarget(app, to);
  const { sampleEvents } = await import("../../../flows/listen/trigger.ts");
  const { clock, random } = app.context;
  const makeEvent = sampleEvents({ now: () => clock.now(), random: () => random() });
  const { deliver } = await import("../../../flows/listen/trigger.ts");
  const delivered: Delivered[] = [];
  async function* deliveries() {
    for (let sent = 0; sent < times; sent++) {
      const event = makeEvent(type, ids);
      const one = toDelivered(event.id, type, to, await deliver(target, JSON.stringify(event)));
      delivered.push(one);
      yield one;
    }
  }
  await app.io.show(printing, deliveries());
  await reportDelivered(app, delivered);
}

/** Sends difficult deliveries and reports the responses. */
async function torture(
  app: App,
  { type, to, printing }: Pick<TriggerInput, "type" | "to"> & { printing: Printing<TortureResult> },
): Promise<void> {
  const target = await openTarget(app, to);
  const { sampleEvents } = await import("../../../flows/listen/trigger.ts");
  const flow = await import("../../../flows/listen/trigger.ts");
  const { clock, random } = app.context;
  const makeEvent = sampleEvents({ now: () => clock.now(), random: () => random() });
  const sleep = (ms: number) => clock.sleep(ms, target.signal);
  await reportTorture(app, flow.torture({ type, makeEvent, target, sleep }), printing);
}

const tortureForm = namedForm<TortureResult>(
  [
    { name: "delivery", value: ({ name }) => name },
    { name: "expected", value: ({ expected }) => expected },
    { name: "response", value: ({ responses }) => responses.join(", ") },
    { name: "result", value: ({ ok }) => (ok ? "ok" : "WRONG") },
  ],
  ["name", "expected", "responses", "ok"],
);

async function reportTorture(
  app: App,
  results: AsyncIterable<TortureResult>,
  printing: Printing<TortureResult>,
): Promise<void> {
  const all: TortureResult[] = [];
  async function* rows() {
    for await (const result of results) {
      all.push(result);
      yield result;
    }
  }
  await app.io.show(printing, rows());
  const wrong = all.filter(({ ok }) => !ok).length;
  if (wrong === 0) return app.io.note("The handler passed every check.");
  const isReached = all.some(({ failure }) => failure !== "unreachable");
  app.exit = isReached ? ExitCode.partial : ExitCode.unavailable;
  await app.io.note(
    isReached
      ? `The handler failed ${counted(wrong, "check")} of ${all.length}. Compare it with the receivers in docs/webhooks.md.`
      : "The handler cannot be reached. Check that it runs, and its URL.",
  );
}
