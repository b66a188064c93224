import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileProblem } from "../../errors.ts";
import type { Env } from "./profile-names.ts";

/** The problem of the file in NODE_EXTRA_CA_CERTS, which Node ignores silently; null for none. */
export function certificateFileProblem(env: Env): { message: string; hint: string } | null {
  const file = env.NODE_EXTRA_CA_CERTS;
  if (file === undefined || file === "") return null;
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const hint = "Correct the path, or unset it.";
    if (code === "ENOENT")
      return { message: `NODE_EXTRA_CA_CERTS names a file that does not exist: ${file}`, hint };
    const why = fileProblem(error)?.why ?? code;
    return { message: `cannot read the file of NODE_EXTRA_CA_CERTS, ${file}: ${why}`, hint };
  }
  if (bytes.toString("latin1").trim() === "")
    return {
      message: `the file of NODE_EXTRA_CA_CERTS is empty: ${file}`,
      hint: "Write the certificates of your authority to it, in PEM format.",
    };
  const isPem = bytes.includes("-----BEGIN ");
  if (isPem && (bytes.includes("-----BEGIN TRUSTED CERTIFICATE-----") || isCertificate(bytes))) return null;
  if (!isPem && isCertificate(bytes))
    return {
      message: `the file of NODE_EXTRA_CA_CERTS is in DER format, not PEM: ${file}`,
      hint: `Convert it: openssl x509 -inform der -in ${file} -out ${file}.pem. Then set NODE_EXTRA_CA_CERTS to ${file}.pem.`,
    };
  return {
    message: `the file of NODE_EXTRA_CA_CERTS has no certificate in PEM format: ${file}`,
    hint: "Set it to a file that contains -----BEGIN CERTIFICATE-----, or unset it.",
  };
}

/** Whether the first certificate of a file, in PEM or DER format, can be read. */
function isCertificate(bytes: Buffer): boolean {
  try {
    return new X509Certificate(bytes).raw.length > 0;
  } catch {
    return false;
  }
}
