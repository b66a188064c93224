import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { hasOpenssl, ownAuthority } from "../support/own-authority.ts";
import { isLong } from "../support/repetitions.ts";
import { spawnCat } from "../support/spawn-cat.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** An empty catalogue behind TLS on this machine, with a certificate for `host` that ends in two days. */
async function behindTls(host: string) {
  const { file, key, cert } = ownAuthority([host]);
  const server = createServer({ key, cert }, (_, response) =>
    response.setHeader("content-type", "application/json").end('{"data":[],"has_more":false}'),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { file, baseUrl: `https://localhost:${(server.address() as AddressInfo).port}` };
}

// Node reads NODE_EXTRA_CA_CERTS at its start, so each case is a program of its own; they run side by side.
test.runIf(isLong && !!hasOpenssl)(
  "cat doctor reports a certificate that ends, is for another host, or is not trusted (needs openssl)",
  async () => {
    const [service, other] = await Promise.all([behindTls("localhost"), behindTls("shop.example")]);
    const home = join(temporaryFolder(), "home");
    const tlsOf = async (CAT_BASE_URL: string, NODE_EXTRA_CA_CERTS: string) => {
      const env = { CAT_BASE_URL, NODE_EXTRA_CA_CERTS, CAT_API_KEY: "ak_mock", CAT_HOME: home };
      const { exitCode, stdout } = await spawnCat(["doctor", "--json"], { env });
      const { checks } = JSON.parse(stdout) as {
        checks: { name: string; status: string; message: string; hint?: string }[];
      };
      const { status, message, hint } = checks.find(({ name }) => name === "tls")!;
      return [
        exitCode,
        status,
        message.replace(CAT_BASE_URL, "URL").replace(/\d{4}-\d\d-\d\d/, "DATE"),
        hint,
      ];
    };
    const missing = join(home, "none.pem");
    expect(
      await Promise.all([
        tlsOf(service.baseUrl, service.file),
        tlsOf(other.baseUrl, other.file),
        tlsOf(service.baseUrl, other.file),
        tlsOf(service.baseUrl, missing),
      ]),
    ).toEqual([
      [
        0,
        "warning",
        "TLSv1.3, certificate valid until DATE",
        "Ask the owner of the service for a new certificate.",
      ],
      [
        7,
        "error",
        "cannot connect securely to URL: its certificate is for another host, ERR_TLS_CERT_ALTNAME_INVALID (GET /v1/products)",
        "Check the base URL.",
      ],
      [
        7,
        "error",
        expect.stringMatching(/^cannot connect securely to URL: its certificate is not trusted, /),
        "If your network or service has its own certificate authority, set NODE_EXTRA_CA_CERTS to its PEM file.",
      ],
      [
        7,
        "error",
        `NODE_EXTRA_CA_CERTS names a file that does not exist: ${missing}`,
        "Correct the path, or unset it.",
      ],
    ]);
  },
);
