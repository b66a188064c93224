import { X509Certificate } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { rootCertificates } from "node:tls";
import { expect, onTestFinished, test } from "vitest";
import { certificateFileProblem } from "../../../src/cli/settings/certificate-file.ts";
import { hasOpenssl, ownAuthority } from "../../support/own-authority.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { createWorld } from "../../support/world.ts";

const pem = rootCertificates[0]!;

/** The problem of a file with these bytes, without its folder. */
function problemOf(bytes: string | Uint8Array) {
  const folder = temporaryFolder();
  const file = join(folder, "ca.pem");
  writeFileSync(file, bytes);
  const problem = certificateFileProblem({ NODE_EXTRA_CA_CERTS: file });
  return problem === null ? null : Object.values(problem).map((text) => text.replaceAll(`${folder}/`, ""));
}

test.each<[string, string | Uint8Array, string[] | null]>([
  ["certificates in PEM format", `# own authority\n${pem}`, null],
  [
    "nothing",
    "",
    [
      "the file of NODE_EXTRA_CA_CERTS is empty: ca.pem",
      "Write the certificates of your authority to it, in PEM format.",
    ],
  ],
  [
    "line ends alone",
    "\r\n\n",
    [
      "the file of NODE_EXTRA_CA_CERTS is empty: ca.pem",
      "Write the certificates of your authority to it, in PEM format.",
    ],
  ],
  [
    "a certificate in DER format",
    new X509Certificate(pem).raw,
    [
      "the file of NODE_EXTRA_CA_CERTS is in DER format, not PEM: ca.pem",
      "Convert it: openssl x509 -inform der -in ca.pem -out ca.pem.pem. Then set NODE_EXTRA_CA_CERTS to ca.pem.pem.",
    ],
  ],
  [
    "a certificate that is cut off",
    "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n",
    [
      "the file of NODE_EXTRA_CA_CERTS has no certificate in PEM format: ca.pem",
      "Set it to a file that contains -----BEGIN CERTIFICATE-----, or unset it.",
    ],
  ],
  [
    "other bytes of ASN.1",
    Uint8Array.of(0x30, 0x82, 0x01, 0x0a, 0x30),
    [
      "the file of NODE_EXTRA_CA_CERTS has no certificate in PEM format: ca.pem",
      "Set it to a file that contains -----BEGIN CERTIFICATE-----, or unset it.",
    ],
  ],
  [
    "a key",
    "-----BEGIN PRIVATE KEY-----\n",
    [
      "the file of NODE_EXTRA_CA_CERTS has no certificate in PEM format: ca.pem",
      "Set it to a file that contains -----BEGIN CERTIFICATE-----, or unset it.",
    ],
  ],
])("an error of TLS names what is wrong with a certificate file that contains %s", (_, bytes, problem) => {
  expect(problemOf(bytes)).toEqual(problem);
});

test("an error of TLS names a certificate file that is a folder, and none where the variable is not set", () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "ca"));
  expect(certificateFileProblem({ NODE_EXTRA_CA_CERTS: join(folder, "ca") })?.message).toMatch(
    /^cannot read the file of NODE_EXTRA_CA_CERTS, .*: it is a folder$/,
  );
  expect([certificateFileProblem({}), certificateFileProblem({ NODE_EXTRA_CA_CERTS: "" })]).toEqual([
    null,
    null,
  ]);
});

/** A server with a certificate that Node does not trust. */
async function untrusted() {
  const { key, cert } = ownAuthority(["localhost"]);
  const server = createServer({ key, cert }, (_, response) => response.end("{}"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `https://localhost:${(server.address() as AddressInfo).port}`;
}

test.runIf(hasOpenssl)(
  "a command whose connection is not trusted names an empty certificate file (needs openssl)",
  async () => {
    const world = await createWorld();
    const file = join(temporaryFolder(), "ca.pem");
    writeFileSync(file, "");
    const env = { CAT_BASE_URL: await untrusted(), NODE_EXTRA_CA_CERTS: file };
    const { exit, stderr } = await world.cat("products list", { env });
    expect(exit).toBe(7);
    expect(stderr.split("\n").at(-2)).toBe(
      `The file of NODE_EXTRA_CA_CERTS is empty: ${file}. Write the certificates of your authority to it, in PEM format.`,
    );
  },
);

test.runIf(hasOpenssl)(
  "a handler whose certificate is not trusted is reported with NODE_EXTRA_CA_CERTS (needs openssl)",
  async () => {
    const world = await createWorld();
    const url = await untrusted();
    const env = { CAT_WEBHOOK_SECRET: "whsec_0123456789" };
    const { exit, stdout, stderr } = await world.cat(`webhooks trigger task.succeeded --to ${url} --json`, {
      env,
    });
    expect(exit).toBe(7);
    expect(JSON.parse(stdout)).toMatchObject({
      status: null,
      response: "its certificate is not trusted, UNABLE_TO_VERIFY_LEAF_SIGNATURE",
    });
    expect(stderr).toContain(
      "Set NODE_EXTRA_CA_CERTS to the PEM file of the authority that signed the handler's certificate.",
    );
  },
);
