import { onTestFinished } from "vitest";
import { type Step, scriptedServer, stopServers } from "../http/scripted-server.ts";

/** The service of a mock, whose files come from `serve` instead. `asked` has the `Range` of each request for a file. */
export async function filesElsewhere(mock: { baseUrl: string }, serve: Step) {
  onTestFinished(stopServers);
  const asked: (string | null)[] = [];
  const server = await scriptedServer(async (response, seen) => {
    if (seen.path.startsWith("/files/")) {
      asked.push(seen.headers.range ?? null);
      serve(response, seen);
      return;
    }
    const { host: _, "content-length": __, connection: ___, ...headers } = seen.headers;
    const answer = await fetch(`${mock.baseUrl}${seen.path}`, {
      method: seen.method,
      headers: headers as Record<string, string>,
      ...(seen.body.length > 0 && { body: seen.body }),
    });
    const text = await answer.text();
    const { "content-length": ____, connection: _____, ...kept } = Object.fromEntries(answer.headers);
    response.writeHead(answer.status, kept);
    response.end(text.replaceAll(`${mock.baseUrl}/_signed/`, `${server.origin}/files/`));
  });
  return { baseUrl: server.origin, asked };
}
