import { NetworkError } from "./errors.ts";
import { type Answer, headerOf, type Interceptor, nameOf } from "./send.ts";

/**
 * A body that has no length and is not chunked ends where the connection ends, so one that was cut looks whole. When it
 * announces JSON and is none, it is taken as cut: what a write did is then unknown, which is retry's matter.
 */
export const wholeJson: Interceptor = (next) => async (request) => {
  const answer = await next(request);
  if (
    !endsWithConnection(answer) ||
    !headerOf(answer, "content-type")?.includes("json") ||
    isJson(answer.body)
  ) {
    return answer;
  }
  throw new NetworkError(
    `${nameOf(request)}: ${request.origin} cut the connection in the middle of its answer`,
    {
      code: "connection_cut",
      transient: true,
      status: answer.status,
      requestId: headerOf(answer, "x-request-id"),
    },
  );
};

const endsWithConnection = (answer: Answer): boolean =>
  headerOf(answer, "content-length") === undefined &&
  headerOf(answer, "transfer-encoding") === undefined &&
  answer.status !== 204 &&
  answer.status !== 304;

function isJson(body: Uint8Array): boolean {
  try {
    JSON.parse(new TextDecoder().decode(body));
    return true;
  } catch {
    return false;
  }
}
