import { assumed, enforced, inFile, type Section } from "../clause.ts";

const of = inFile("mock/webhooks.test.ts");
const deliveries = inFile("mock/deliveries.test.ts");
const late = inFile("mock/late-deliveries.test.ts");
const conformance = inFile("conformance/every-operation.test.ts");

/** Webhooks: registration and secrets. What they receive is in events.ts. */
export const webhooks: Section = {
  title: "Webhooks",
  clauses: [
    enforced(
      "POST /v1/webhooks answers 201 with the webhook, active, and its signing_secret.",
      of("a webhook is made, and its secret shown this once"),
      "operation webhooks.create",
    ),
    enforced(
      "The secret begins with whsec_ and is shown once only.",
      of("a webhook is made, and its secret shown this once"),
    ),
    enforced(
      "url and a non-empty list of known events are required; else 400.",
      of("what is refused > no url", "what is refused > empty events", "what is refused > an unknown event"),
    ),
    enforced(
      "The URL is public, https, on the default port, without credentials.",
      of(
        "the URL > https://10.0.0.1/in",
        "the URL > https://hooks.example.com:8443/in",
        "the URL > http://hooks.example.com/in",
      ),
    ),
    enforced("It is immutable.", of("the URL > is immutable")),
    assumed(
      "How it is verified at creation.",
      "By the rules above; nothing is sent to it.",
      of("the URL > %s"),
    ),
    assumed("An event that is named twice.", "It counts once.", of("an event named twice counts once")),
    assumed(
      "The length of a description.",
      "Up to 2,000 characters.",
      of("what is refused > a description too long", "an update changes what it names and nothing else"),
    ),
    enforced(
      "GET /v1/webhooks lists them, never with the secret.",
      [
        ...of("the list is newest first, page by page, also while some come and go"),
        ...conformance("answers a request that is right"),
      ],
      "operation webhooks.list",
    ),
    enforced(
      "GET /v1/webhooks/{webhook_id}: the webhook without its secret, or 404.",
      [...of("a rotation gives a new secret each time, shown once"), ...conformance("refuses with %d %s")],
      "operation webhooks.get",
      "code webhook_not_found",
    ),
    enforced(
      "PATCH changes events, status (active or paused) and description; null clears the description.",
      of(
        "an update changes what it names and nothing else",
        "what is refused > disabled, which only the service sets",
      ),
      "operation webhooks.update",
    ),
    enforced("rotate_secret gives a new secret, shown once; the previous one stops working at once.", [
      ...of("a rotation gives a new secret each time, shown once"),
      ...deliveries("after a rotation every attempt is signed with the new secret"),
    ]),
    enforced(
      "DELETE answers 204; the webhook is gone.",
      [
        ...of("a deleted webhook is gone"),
        ...late(
          "of many events at once > those in line are not sent to a webhook that was deleted meanwhile",
        ),
      ],
      "operation webhooks.delete",
    ),
    enforced(
      "last_delivery_at is when something was last delivered.",
      deliveries(
        "an event arrives, signed over its bytes, with its resource's id and status and nothing more",
      ),
    ),
    assumed(
      "Events that happen while a webhook is paused.",
      "It gets nothing of them, later either.",
      deliveries("a paused webhook > gets nothing of what happens meanwhile, later either"),
    ),
    assumed(
      "A retry that comes due while a webhook is paused.",
      "It is left out, and the later ones come at their times; when it was the last, the event is abandoned, which does not count towards disabling.",
      deliveries(
        "a paused webhook > gets no retry that comes due while it is paused, and those that come due before and after",
        "a paused webhook > loses an event whose last retry comes due while it is paused, which does not count against it",
      ),
    ),
    assumed(
      "What moves a webhook to disabled.",
      "The fifth event in a row that was abandoned.",
      deliveries(
        "disabling > comes with the fifth event in a row that was abandoned, and takes the rest with it",
        "disabling > does not come when one in between was accepted",
      ),
    ),
  ],
};
