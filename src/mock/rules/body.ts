import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { limits } from "../../contract/limits.ts";
import type { BodyType, Operation } from "../../contract/operation.ts";
import { invalid, Refusal } from "./refusal.ts";

/** What some editors begin a file with. */
export const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

/** Room for the boundaries and part headers of an upload around the image's own bytes. */
const multipartOverhead = 64 * 1024;
/** Far more than the largest product or webhook has. */
const ordinaryBodyBytes = 1024 * 1024;

/** The largest body an operation takes, in bytes. */
export function bodyLimitOf(operation: Operation): number {
  if (operation.body?.["multipart/form-data"] !== undefined) return limits.imageBytes + multipartOverhead;
  return operation.body?.["application/x-ndjson"] !== undefined ? limits.importBodyBytes : ordinaryBodyBytes;
}

/**
 * Reads a request's body; `done` gets its bytes, a refusal as soon as it is known to be too large, or null when the caller
 * went away before its end.
 */
export function readBody(
  request: IncomingMessage,
  limit: number,
  done: (outcome: Buffer | Refusal | null) => void,
): void {
  const declared = request.headers["content-length"];
  if (declared !== undefined && Number(declared) > limit) {
    done(tooLarge(limit));
    return;
  }
  const chunks: Buffer[] = [];
  let length = 0;
  let isSettled = false;
  const settle = (outcome: Buffer | Refusal | null) => {
    if (isSettled) return;
    isSettled = true;
    done(outcome);
  };
  const onData = (chunk: Buffer) => {
    length += chunk.length;
    if (length <= limit) {
      chunks.push(chunk);
    } else {
      request.removeListener("data", onData);
      settle(tooLarge(limit));
    }
  };
  request.on("data", onData);
  request.on("end", () => settle(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, length)));
  request.on("close", () => settle(null));
}

const tooLarge = (limit: number): Refusal =>
  new Refusal("body_too_large", `the body is larger than ${limit} bytes`);

/** The content type of a body, if the operation accepts it; else 415. A text in another encoding than UTF-8 is not accepted. */
export function acceptedType(operation: Operation, request: IncomingMessage): BodyType {
  const header = request.headers["content-type"] ?? "";
  const semicolon = header.indexOf(";");
  const type = (semicolon < 0 ? header : header.slice(0, semicolon)).trim().toLowerCase();
  const accepted = operation.body ?? {};
  if (!Object.hasOwn(accepted, type)) {
    const wanted = Object.keys(accepted).join(" or ");
    const got = type === "" ? "none was given" : `not ${type.slice(0, 100)}`;
    throw new Refusal("unsupported_media_type", `the content type must be ${wanted}; ${got}`);
  }
  const charset = semicolon < 0 ? undefined : charsetIn(header.slice(semicolon));
  if (charset !== undefined && !/^(?:utf-?8|us-ascii)$/i.test(charset)) {
    throw new Refusal("unsupported_media_type", "the body must be UTF-8");
  }
  const encoding = request.headers["content-encoding"];
  if (encoding !== undefined && encoding.toLowerCase() !== "identity") {
    throw new Refusal("unsupported_media_type", "the body must not be compressed");
  }
  return type as BodyType;
}

/** One of a content type's; in quotes a backslash takes any character as it is (RFC 9110, 5.6.4). */
const parameter = /;\s*([^=;\s"]+)=(?:"((?:[^"\\]|\\.)*)"?|([^;\s]*))/g;

/** The charset among a content type's parameters, of which another one may have that word in quotes. */
function charsetIn(parameters: string): string | undefined {
  for (const [, name, quoted, plain] of parameters.matchAll(parameter)) {
    if (name!.toLowerCase() === "charset") return quoted?.replaceAll(/\\(.)/g, "$1") ?? plain;
  }
  return undefined;
}

/** A JSON body's value, or 400. */
export function parseJson(bytes: Buffer): unknown {
  if (bytes.length === 0) throw invalid("the body is empty; a JSON object is needed");
  if (!isUtf8(bytes)) throw invalid("the body is not UTF-8");
  try {
    return JSON.parse(bytes.toString());
  } catch (error) {
    // Not everybody's parser passes over it (RFC 8259, 8.1), so a client that sends one is better told here.
    if (bytes.subarray(0, 3).equals(byteOrderMark)) {
      throw invalid("the body begins with a byte order mark, which is no JSON");
    }
    throw invalid(`the body is not JSON: ${(error as Error).message.slice(0, 200)}`);
  }
}
