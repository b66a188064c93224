import { readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import { type AddressInfo, connect } from "node:net";
import { afterEach } from "vitest";
import type { Network } from "../../src/mock/outgoing/network.ts";

const pem = (name: string) => readFileSync(new URL(`certificates/${name}.pem`, import.meta.url), "utf8");
const certificate = pem("cert");

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

/** The address of every outside name, unless a test overrides it. */
export const publicAddress = "93.184.216.34";

/**
 * A network with one local server for all public addresses. Its certificate is for `*.example.com`,
 * `example.org` and its address.
 */
export async function startOutside(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
  addresses: (host: string) => string[] | Promise<string[]> = () => [publicAddress],
) {
  const paths: string[] = [];
  const requests: IncomingMessage[] = [];
  const asked: string[] = [];
  const connections: { addresses: readonly string[]; port: number }[] = [];
  const server = createServer({ cert: certificate, key: pem("key") }, (request, response) => {
    paths.push(request.url!);
    requests.push(request);
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port: listening } = server.address() as AddressInfo;
  const network: Partial<Network> = {
    resolve: async (host) => {
      asked.push(host);
      return addresses(host);
    },
    connect: (addresses, port) => {
      connections.push({ addresses, port });
      return connect(listening, "127.0.0.1");
    },
    authorities: certificate,
  };
  return { network, paths, requests, asked, connections, server };
}
