import { InvalidArgumentError } from "commander";

/** Parses the host to listen on. Rejects an empty name, with which a server would listen on all addresses. */
export function hostName(text: string): string {
  if (text.trim() === "") throw new InvalidArgumentError("use an address or a host name");
  return text;
}
