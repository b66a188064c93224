import { NetworkError } from "./errors.ts";
import { type Answer, headerOf, type Interceptor, nameOf } from "./send.ts";

/**
 * A body without a length that is not chunked ends with the connection, so a cut one looks complete. If it
 * should be JSON and is not, it is treated as cut: the outcome of a write is then unknown, and retry handles
 * it.
 */
export const completeJson: Interceptor = (next) => async (request) => {
  const answer = await next(request);
  if (
    !endsWithConnection(answer) ||
    !headerOf(answer, "content-type")?.includes("json") ||
    isJson(answer.body)
  ) {
    return answer;
  }
  throw new NetworkError(
    `${request.origin} closed the connection before the response was complete (${nameOf(request)})`,
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
