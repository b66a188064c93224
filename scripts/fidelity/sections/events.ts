import { assumed, enforced, inFile, type Section } from "../clause.ts";

const of = inFile("mock/deliveries/deliveries.test.ts");
const late = inFile("mock/deliveries/late-deliveries.test.ts");
const signature = inFile("contract/signature.test.ts");

/** Events: their delivery, signature and retries. */
export const events: Section = {
  title: "Events",
  clauses: [
    enforced(
      "task.succeeded and task.failed are sent when a task ends.",
      [
        "mock/deliveries/six-events.test.ts > the end of a task of either type sends task.succeeded or task.failed",
        "mock/jobs/task-life.test.ts > the end of a task sends one event with only its ID and status",
      ],
      "event task.succeeded",
      "event task.failed",
    ),
    enforced(
      "import.completed is sent when an import finishes, even with failed rows; import.failed when the import itself fails.",
      [
        "mock/deliveries/six-events.test.ts > the end of an import sends import.completed, even with failed rows, or import.failed",
      ],
      "event import.completed",
      "event import.failed",
    ),
    enforced(
      "export.completed and export.failed are sent when an export job ends.",
      [
        "mock/deliveries/six-events.test.ts > the end of a ZIP job sends export.completed or export.failed; a manifest sends nothing",
      ],
      "event export.completed",
      "event export.failed",
    ),
    assumed(
      "Events for a manifest, which is completed immediately.",
      "None, because it was never processing.",
      "mock/deliveries/six-events.test.ts > the end of a ZIP job sends export.completed or export.failed; a manifest sends nothing",
    ),
    enforced(
      "Events go to the active webhooks of the organization that subscribe to the type.",
      of("an event > goes to each active webhook of its organization that subscribes to its type"),
    ),
    enforced(
      "A delivery is a POST with {id, type, created_at, data}; data has only the ID and status of the resource.",
      of("an event is delivered with a signature of its bytes, and only the ID and status of its resource"),
    ),
    enforced(
      "The event ID starts with evt_ and is the same in every attempt.",
      of("a failed delivery > is retried after 1 min, 5 min, 15 min, 1 h and 6 h, then abandoned"),
    ),
    enforced(
      "Service-Signature: t=…,v1=… is the hex HMAC-SHA256 of {t}.{raw_body}, keyed by the complete secret.",
      [
        ...of(
          "an event is delivered with a signature of its bytes, and only the ID and status of its resource",
          "other software verifies the signature",
        ),
        ...signature("signDelivery creates the same signature as other software: $v1"),
      ],
    ),
    enforced(
      "A receiver rejects timestamps more than 300 seconds from now.",
      signature("accepts 300 full seconds on either side, but not 301: %d ms after"),
      "limit signatureToleranceSeconds",
    ),
    enforced(
      "A non-2xx response, a timeout or an unreachable host is a failure.",
      of(
        "a response > with %d is a failure",
        "a response > that never comes, because no server listens, is a failure",
      ),
    ),
    assumed(
      "Redirects.",
      "A failure, like any other response that is not 2xx.",
      of("a response > with %d is a failure"),
    ),
    enforced(
      "A handler has 10 seconds.",
      of("a response > that %s times out after 10 seconds"),
      "limit webhookTimeoutMs",
    ),
    enforced(
      "A failed delivery is retried after about 1 minute, 5 minutes, 15 minutes, 1 hour and 6 hours, then abandoned.",
      of("a failed delivery > is retried after 1 min, 5 min, 15 min, 1 h and 6 h, then abandoned"),
      "limit webhookRetryMs",
    ),
    assumed(
      "The precision of 'about'.",
      "Exact to the millisecond, from the start of the previous attempt. Of several overdue retries, one is sent immediately and the others after their usual waits.",
      [
        ...of("a failed delivery > is retried after 1 min, 5 min, 15 min, 1 h and 6 h, then abandoned"),
        ...late(
          "long overdue deliveries > are tried once after a state is loaded a day later, and continue from there",
        ),
      ],
    ),
    enforced(
      "Deliveries are at least once.",
      late("an attempt in flight when the state is saved is made again: at least once"),
    ),
    enforced(
      "Polling of tasks, imports and exports still works.",
      "conformance/every-operation.test.ts > accepts a valid request",
    ),
  ],
};
