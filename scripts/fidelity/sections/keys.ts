import { assumed, enforced, inFile, notModelled, type Section } from "../clause.ts";

const of = inFile("mock/keys-and-limits.test.ts");
const conformance = inFile("conformance/every-operation.test.ts");

/** Authentication. */
export const keys: Section = {
  title: "Authentication",
  clauses: [
    enforced(
      "Every request carries Authorization: Bearer and a machine key.",
      of("keys > another scheme", "keys > the scheme may be written in any case"),
    ),
    enforced(
      "No key, or an unknown or revoked one: 401.",
      of("keys > no header", "keys > an unknown key", "keys > a revoked key"),
      "code missing_api_key",
      "code invalid_api_key",
    ),
    enforced(
      "A request outside the key's scopes: 403 insufficient_scope.",
      [
        ...of("keys > a key that only reads lists products, and creates none"),
        ...conformance("refuses with %d %s"),
      ],
      "code insufficient_scope",
    ),
    assumed(
      "Which scope each endpoint needs.",
      "RESOURCE:read for GET and RESOURCE:write for the rest; a product's images need products:write.",
      [
        ...of("keys > a key that only reads lists products, and creates none"),
        "contract/openapi.test.ts > exactly the operations of the contract, each with its name, tag, scope and answers",
      ],
    ),
    enforced("A key bound to a user: 403.", of("keys > a user's key"), "code user_key_not_allowed"),
    notModelled(
      "Minting, revoking and expiry of keys, and the minute for which a check is cached.",
      "The fake has five keys, each of one kind for ever.",
    ),
    notModelled("Dashboard session tokens.", "Like any unknown key they are refused."),
    enforced(
      "Deliveries are authenticated by their signature.",
      "mock/deliveries.test.ts > an event arrives, signed over its bytes, with its resource's id and status and nothing more",
    ),
  ],
};
