import { asFileError, CatError } from "../../errors.ts";
import { UsageError } from "./errors.ts";

/** A UsageError for a port or host that cannot be used; errors of files and others are returned. */
export function cannotListen(error: unknown, { port, host }: { port: number; host: string }): unknown {
  const fileError = asFileError(error);
  if (fileError !== error) return fileError;
  if (error instanceof CatError && error.type !== "listen") return error;
  const code = (error as NodeJS.ErrnoException | null)?.code;
  const usage = (message: string, hint: string, param: string) =>
    new UsageError(message, { code: "cannot_listen", hint, param, cause: error });
  switch (code) {
    case "EADDRINUSE":
      return usage(
        `port ${port} on ${host} is in use`,
        "Choose another port with --port, or use --port 0 for a free one.",
        "port",
      );
    case "EACCES":
      return usage(
        `cannot use port ${port}: permission denied`,
        "Choose a port above 1023 with --port.",
        "port",
      );
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
    case "EAI_AGAIN":
    case "EINVAL":
      return usage(
        `cannot listen on ${JSON.stringify(host)}: not an address of this machine`,
        "Remove --host to listen on 127.0.0.1.",
        "host",
      );
    default:
      return error;
  }
}
