import { assumed, enforced, inFile, type Section } from "../clause.ts";

const of = inFile("mock/deliveries.test.ts");
const late = inFile("mock/late-deliveries.test.ts");
const signature = inFile("contract/signature.test.ts");

/** Events: their delivery, signature and retries. */
export const events: Section = {
  title: "Events",
  clauses: [
    enforced(
      "task.succeeded and task.failed when a task reaches its end.",
      [
        "mock/six-events.test.ts > a task's end is told as task.succeeded or task.failed, of either type",
        "mock/task-life.test.ts > its end is announced once, with its id and status and nothing more",
      ],
      "event task.succeeded",
      "event task.failed",
    ),
    enforced(
      "import.completed when an import finishes, also with failed rows; import.failed when it fails as a whole.",
      [
        "mock/six-events.test.ts > an import's end is told as import.completed, also with failed rows, or as import.failed",
      ],
      "event import.completed",
      "event import.failed",
    ),
    enforced(
      "export.completed and export.failed when an export job does.",
      [
        "mock/six-events.test.ts > a ZIP's end is told as export.completed or export.failed; a manifest, which never was processing, is not told",
      ],
      "event export.completed",
      "event export.failed",
    ),
    assumed(
      "Whether a manifest, which is completed at once, is announced.",
      "It is not: it never was processing.",
      "mock/six-events.test.ts > a ZIP's end is told as export.completed or export.failed; a manifest, which never was processing, is not told",
    ),
    enforced(
      "Delivered to active webhooks of the organization that listen to the type.",
      of(
        "who gets an event > only active webhooks of its organization that listen to its type, all the same event",
      ),
    ),
    enforced(
      "A POST with {id, type, created_at, data}; data has the resource's id and status and nothing more.",
      of("an event arrives, signed over its bytes, with its resource's id and status and nothing more"),
    ),
    enforced(
      "The event id begins with evt_ and is the same in every attempt.",
      of("a failed delivery > is tried again after 1 min, 5 min, 15 min, 1 h and 6 h, then abandoned"),
    ),
    enforced(
      "Service-Signature: t=…,v1=… is the hex HMAC-SHA256 of {t}.{raw_body}, keyed by the whole secret.",
      [
        ...of(
          "an event arrives, signed over its bytes, with its resource's id and status and nothing more",
          "other software finds the signature right",
        ),
        ...signature("signs as other software does: $v1"),
      ],
    ),
    enforced(
      "A receiver refuses timestamps more than 300 seconds from now.",
      signature("300 whole seconds on either side pass, 301 do not: %d ms after"),
      "limit signatureToleranceSeconds",
    ),
    enforced(
      "A non-2xx answer, a timeout or an unreachable host is a failure.",
      of("an answer > of %d is a failure", "an answer > of nobody is a failure"),
    ),
    assumed(
      "Redirects.",
      "A failure, like any other answer that is not 2xx.",
      of("an answer > of %d is a failure"),
    ),
    enforced(
      "A handler has 10 seconds.",
      of("an answer > that %s is given up after 10 seconds"),
      "limit webhookTimeoutMs",
    ),
    enforced(
      "Retries after about 1 minute, 5 minutes, 15 minutes, 1 hour and 6 hours, then abandoned.",
      of("a failed delivery > is tried again after 1 min, 5 min, 15 min, 1 h and 6 h, then abandoned"),
      "limit webhookRetryMs",
    ),
    assumed(
      "How exact 'about' is.",
      "To the millisecond, from when the attempt before began; of retries that are long overdue one is made at once, the others after their waits.",
      [
        ...of("a failed delivery > is tried again after 1 min, 5 min, 15 min, 1 h and 6 h, then abandoned"),
        ...late(
          "deliveries that are long overdue > when a state is put back a day later, are tried once, and go on from there",
        ),
      ],
    ),
    enforced(
      "Deliveries are at least once.",
      late("an attempt that was under way when the state was taken is made again: at least once"),
    ),
    enforced(
      "Polling tasks, imports and exports stays possible.",
      "conformance/every-operation.test.ts > answers a request that is right",
    ),
  ],
};
