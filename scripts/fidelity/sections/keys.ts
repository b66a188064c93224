import { assumed, enforced, inFile, notModeled, type Section } from "../clause.ts";

const set = inFile("mock/parts/keys.test.ts");
const of = inFile("mock/rules/keys-and-limits.test.ts");
const conformance = inFile("conformance/every-operation.test.ts");

/** Authentication. */
export const keys: Section = {
  title: "Authentication",
  clauses: [
    enforced(
      "Every request needs Authorization: Bearer with an API key.",
      of("API keys > another scheme", "API keys > accept the scheme in any letter case"),
    ),
    enforced(
      "No key, or an unknown or revoked one: 401.",
      of("API keys > no header", "API keys > an unknown key", "API keys > a revoked key"),
      "code missing_api_key",
      "code invalid_api_key",
    ),
    enforced(
      "A request outside the key's scopes: 403 insufficient_scope.",
      [
        ...of("API keys > with read-only access list products, but cannot create any"),
        ...conformance("rejects with %d %s"),
      ],
      "code insufficient_scope",
    ),
    assumed(
      "The scope of each endpoint.",
      "RESOURCE:read for GET, RESOURCE:write for other methods; attaching images to a product needs products:write.",
      [
        ...of("API keys > with read-only access list products, but cannot create any"),
        "contract/openapi.test.ts > the OpenAPI document has exactly the operations of the contract, with names, tags, scopes and responses",
      ],
    ),
    enforced("A key bound to a user: 403.", of("API keys > a user's key"), "code user_key_not_allowed"),
    enforced(
      "Keys have chosen scopes, and expire.",
      set("a key has the chosen scopes only", "a key expires at its time"),
    ),
    enforced(
      "Key verification is cached for a minute; a revocation takes that long to apply.",
      set("a key that is revoked in the middle works for one more minute, also after a restore"),
    ),
    notModeled("Dashboard session tokens.", "Rejected like any unknown key."),
    enforced(
      "Deliveries are authenticated by their signature.",
      "mock/deliveries/deliveries.test.ts > an event is delivered with a signature of its bytes, and only the ID and status of its resource",
    ),
  ],
};
