import { assumed, enforced, inFile, type Section } from "../clause.ts";

const of = inFile("mock/routes/webhooks.test.ts");
const deliveries = inFile("mock/deliveries/deliveries.test.ts");
const late = inFile("mock/deliveries/late-deliveries.test.ts");
const conformance = inFile("conformance/every-operation.test.ts");

/** Webhooks: registration and secrets. events.ts covers the deliveries. */
export const webhooks: Section = {
  title: "Webhooks",
  clauses: [
    enforced(
      "POST /v1/webhooks returns 201 with the active webhook and its signing_secret.",
      of("a webhook is created, and its secret is shown only then"),
      "operation webhooks.create",
    ),
    enforced(
      "The secret starts with whsec_ and is shown only once.",
      of("a webhook is created, and its secret is shown only then"),
    ),
    enforced(
      "url and a non-empty list of known events are required; else 400.",
      of(
        "a webhook is rejected > no URL",
        "a webhook is rejected > empty events",
        "a webhook is rejected > an unknown event",
      ),
    ),
    enforced(
      "The URL is public, https, on the default port, without credentials.",
      of(
        "the URL of a webhook > https://10.0.0.1/in",
        "the URL of a webhook > https://hooks.example.com:8443/in",
        "the URL of a webhook > http://hooks.example.com/in",
      ),
    ),
    enforced("The URL cannot be changed.", of("the URL of a webhook > is immutable")),
    assumed(
      "The verification of the URL at creation.",
      "Only the rules above; no request is sent to it.",
      of("the URL of a webhook > follows the URL policy: %s"),
    ),
    assumed("A duplicate event in the list.", "It counts once.", of("a duplicate event type counts once")),
    assumed(
      "The length of a description.",
      "Up to 2,000 characters.",
      of("a webhook is rejected > a description that is too long", "an update changes only the given fields"),
    ),
    enforced(
      "GET /v1/webhooks lists them, never with the secret.",
      [
        ...of("the list has the newest webhooks first, in stable pages while others are added and deleted"),
        ...conformance("accepts a valid request"),
      ],
      "operation webhooks.list",
    ),
    enforced(
      "GET /v1/webhooks/{webhook_id}: the webhook without its secret, or 404.",
      [...of("each rotation creates a new secret, shown once"), ...conformance("rejects with %d %s")],
      "operation webhooks.get",
      "code webhook_not_found",
    ),
    enforced(
      "PATCH changes events, status (active or paused) and description; null clears the description.",
      of(
        "an update changes only the given fields",
        "a webhook is rejected > status disabled, which only the service sets",
      ),
      "operation webhooks.update",
    ),
    enforced("rotate_secret creates a new secret, shown once; the old one stops working immediately.", [
      ...of("each rotation creates a new secret, shown once"),
      ...deliveries("every attempt after a rotation is signed with the new secret"),
    ]),
    enforced(
      "DELETE returns 204 and deletes the webhook.",
      [
        ...of("a deleted webhook is not found"),
        ...late("many simultaneous events > are not sent from the queue after the webhook is deleted"),
      ],
      "operation webhooks.delete",
    ),
    enforced(
      "last_delivery_at is the time of the last successful delivery.",
      deliveries(
        "an event is delivered with a signature of its bytes, and only the ID and status of its resource",
      ),
    ),
    assumed(
      "Events that happen while a webhook is paused.",
      "They are never sent to it.",
      deliveries("a paused webhook > never gets the events of the pause"),
    ),
    assumed(
      "A retry that is due while a webhook is paused.",
      "It is skipped; later retries keep their times. If it was the last one, the event is abandoned, which does not count towards disabling.",
      deliveries(
        "a paused webhook > gets only the retries that are due before and after the pause",
        "a paused webhook > loses an event whose last retry is due during the pause, which does not count towards disabling",
      ),
    ),
    assumed(
      "The change of a webhook to disabled.",
      "After the fifth consecutive abandoned event.",
      deliveries(
        "disabling > happens with the fifth abandoned event in a row, and abandons the pending ones",
        "disabling > does not happen if an event in between was accepted",
      ),
    ),
  ],
};
