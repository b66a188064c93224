import { describe, expect, test } from "vitest";
import { checkDownloadUrl, parseBaseUrl } from "../../src/client/base-url.ts";
import { createClient } from "../../src/client/client.ts";

describe("a base URL", () => {
  test.each([
    ["https://api.example.com", "https://api.example.com", ""],
    ["https://api.example.com/", "https://api.example.com", ""],
    [" https://API.example.com:443//\n", "https://api.example.com", ""],
    ["https://host.example/prefix/", "https://host.example", "/prefix"],
    ["https://host.example/v1/inner", "https://host.example", "/v1/inner"],
    ["http://127.0.0.1:4010", "http://127.0.0.1:4010", ""],
    ["http://localhost:4010/", "http://localhost:4010", ""],
    ["http://[::1]:4010", "http://[::1]:4010", ""],
    ["https://api.example.com.", "https://api.example.com.", ""],
  ])("is accepted: %j", (text, origin, prefix) => {
    expect(parseBaseUrl(text)).toEqual({ origin, prefix });
  });

  test.each([
    ["", "is empty"],
    ["api.example.com", "does not start with https://"],
    ["localhost:4010", "does not start with https://"],
    ["ftp://api.example.com", "does not start with https://"],
    ["https://", "does not start with https://"],
    ["http://api.example.com", "is not encrypted: http://api.example.com"],
    ["http://127.0.0.1.example.com", "is not encrypted: http://127.0.0.1.example.com"],
    ["https://user:secret@api.example.com", "contains a user name or password"],
    ["https://api.example.com?x=1", "contains a query or a fragment"],
    ["https://api.example.com/#", "contains a query or a fragment"],
    ["https://api.example.com/v1", "ends with the version"],
    ["https://api.example.com/prefix/v1/", "ends with the version"],
    ["https://..", "has an invalid host name"],
    ["https://api..example.com", "has an invalid host name"],
    [`https://${"a".repeat(64)}.example.com`, "has an invalid host name"],
    [`https://${"abc.".repeat(80)}com`, "has an invalid host name"],
    [`https://${".".repeat(50_000)}`, "is longer than 2,048 characters"],
    [`https://api.example.com/${"/".repeat(50_000)}x`, "is longer than 2,048 characters"],
  ])("is rejected: %j", (text, what) => {
    const attempt = () => parseBaseUrl(text);
    expect(attempt).toThrow(`the base URL ${what}`);
    expect(attempt).toThrow(expect.objectContaining({ type: "usage", code: "invalid_base_url" }));
    expect(attempt).not.toThrow("secret");
  });

  test("with a version is rejected with a hint that shows the URL to use", () => {
    expect(() => parseBaseUrl("https://api.example.com/p/v1/")).toThrow(
      expect.objectContaining({ hint: "Use https://api.example.com/p; /v1 is added to it." }),
    );
  });
});

describe("insecure hosts", () => {
  const hosts = new Set(["mock", "10.0.0.7", "[fd00::7]"]);

  test.each([
    ["http://mock:4010", true],
    ["http://MOCK./p", true],
    ["http://10.0.0.7", true],
    ["http://[fd00:0::7]:4010", true],
    ["https://other.example.com", true],
    ["http://127.0.0.1:4010", true],
    ["http://mock.example.com", false],
    ["http://a.mock", false],
    ["http://mock2", false],
    ["http://10.0.0.8", false],
    ["http://xn--mck-tna", false],
  ])("may be used without encryption, and no others: %s %j", (text, isAccepted) => {
    const base = () => parseBaseUrl(text, hosts);
    const download = () => checkDownloadUrl(new URL(text), hosts);
    for (const check of [base, download]) {
      if (isAccepted) expect(check).not.toThrow();
      else expect(check).toThrow("not encrypted");
    }
  });

  test("are exact names: a client is not created with another", () => {
    const options = { baseUrl: "http://mock:4010", apiKey: "ak_mock" };
    expect(() => createClient({ ...options, insecureHttpHosts: ["other"] })).toThrow("is not encrypted");
    for (const name of ["*", "mock:4010", "http://mock", ""]) {
      expect(() => createClient({ ...options, insecureHttpHosts: [name] })).toThrow(
        `invalid insecureHttpHosts: "${name}" is not an exact host name`,
      );
    }
  });
});
