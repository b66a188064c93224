import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { limits } from "../../contract/limits.ts";
import type { BodyType, Operation } from "../../contract/operation.ts";
import { parseJson } from "../../json.ts";
import { invalid, Rejection } from "./rejection.ts";

/** Bytes that some editors write at the start of a file. */
export const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

/** Allowance for the boundaries and part headers of an upload, in bytes. */
const multipartOverhead = 64 * 1024;
/** Far more than the largest product or webhook needs. */
const ordinaryBodyBytes = 1024 * 1024;

/** The largest body that an operation accepts, in bytes. */
export function maxBodyBytes(operation: Operation): number {
  if (operation.body?.["multipart/form-data"] !== undefined) return limits.imageBytes + multipartOverhead;
  return operation.body?.["application/x-ndjson"] !== undefined ? limits.importBodyBytes : ordinaryBodyBytes;
}

/** Calls `done` with the body, or a `Rejection` if it is too large; not at all if the client disconnects. */
export function readBody(
  request: IncomingMessage,
  limit: number,
  done: (outcome: Buffer | Rejection) => void,
): void {
  const declared = request.headers["content-length"];
  if (declared !== undefined && Number(declared) > limit) {
    done(tooLarge(limit));
    return;
  }
  const chunks: Buffer[] = [];
  let length = 0;
  const onData = (chunk: Buffer) => {
    length += chunk.length;
    if (length <= limit) {
      chunks.push(chunk);
      return;
    }
    request.removeListener("data", onData);
    request.removeListener("end", onEnd);
    done(tooLarge(limit));
  };
  const onEnd = () => done(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, length));
  request.on("data", onData);
  request.on("end", onEnd);
}

const tooLarge = (limit: number): Rejection =>
  new Rejection("body_too_large", `the body is larger than ${limit} bytes`);

/** The content type of a body, or 415 if the operation does not accept it. Text must be UTF-8. */
export function acceptedType(operation: Operation, request: IncomingMessage): BodyType {
  const header = request.headers["content-type"] ?? "";
  const semicolon = header.indexOf(";");
  const type = (semicolon < 0 ? header : header.slice(0, semicolon)).trim().toLowerCase();
  const accepted = operation.body ?? {};
  if (!Object.hasOwn(accepted, type)) {
    const wanted = Object.keys(accepted).join(" or ");
    const got = type === "" ? "missing" : `"${type.slice(0, 100)}"`;
    throw new Rejection("unsupported_media_type", `the content type must be ${wanted}; got: ${got}`);
  }
  const charset = semicolon < 0 ? undefined : charsetIn(header.slice(semicolon));
  if (charset !== undefined && !/^(?:utf-?8|us-ascii)$/i.test(charset)) {
    throw new Rejection("unsupported_media_type", "the body must be UTF-8");
  }
  const encoding = request.headers["content-encoding"];
  if (encoding !== undefined && encoding.toLowerCase() !== "identity") {
    throw new Rejection("unsupported_media_type", "the body must not be compressed");
  }
  return type as BodyType;
}

/** One parameter of a content type. In quotes, a backslash escapes any character (RFC 9110, 5.6.4). */
const parameter = /;\s*([^=;\s"]+)=(?:"((?:[^"\\]|\\.)*)"?|([^;\s]*))/g;

/** The charset parameter of a content type. Quoted values of other parameters may contain the same word. */
function charsetIn(parameters: string): string | undefined {
  for (const [, name, quoted, plain] of parameters.matchAll(parameter)) {
    if (name!.toLowerCase() === "charset") return quoted?.replaceAll(/\\(.)/g, "$1") ?? plain;
  }
  return undefined;
}

/** Parses a JSON body, or throws 400. */
export function parseJsonBody(bytes: Buffer): unknown {
  if (bytes.length === 0) throw invalid("the body is empty; send a JSON object");
  if (!isUtf8(bytes)) throw invalid("the body is not UTF-8");
  try {
    return parseJson(bytes.toString());
  } catch (error) {
    // Some parsers ignore the mark and others fail (RFC 8259, 8.1), so the mock reports it.
    if (bytes.subarray(0, 3).equals(byteOrderMark)) {
      throw invalid("the body starts with a byte order mark, which JSON does not allow");
    }
    throw invalid(`the body is not valid JSON: ${(error as Error).message.slice(0, 200)}`);
  }
}
