/** Why TLS failed, by the code of OpenSSL; the other codes are shown as they are. */
const reasons: Readonly<Record<string, readonly [why: string, hint: (host: string) => string]>> = {
  CERT_HAS_EXPIRED: [
    "its certificate has expired",
    (host) => `Check the date of this machine; if it is right, ${host} needs a new certificate.`,
  ],
  CERT_NOT_YET_VALID: ["its certificate is not valid yet", () => "Check the date of this machine."],
  ERR_TLS_CERT_ALTNAME_INVALID: ["its certificate is for another host", () => "Check the base URL."],
};

/** Certificates that no known authority signed. */
const untrusted =
  /^(?:DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_GET_ISSUER_CERT(?:_LOCALLY)?|UNABLE_TO_VERIFY_LEAF_SIGNATURE)$/;

/** A failure of TLS with `origin` in words, and the next step; null if the code is not one of TLS. Some errors have a number. */
export function certificateProblem(code: unknown, origin: string): { why: string; hint: string } | null {
  if (typeof code !== "string") return null;
  const [known, hintFor] = reasons[code] ?? [];
  if (known !== undefined && hintFor !== undefined) {
    return { why: `${known}, ${code}`, hint: hintFor(new URL(origin).hostname) };
  }
  if (untrusted.test(code)) {
    return {
      why: `its certificate is not trusted, ${code}`,
      hint: "If your network or service has its own certificate authority, set NODE_EXTRA_CA_CERTS to its PEM file.",
    };
  }
  if (code === "EPROTO" || code.startsWith("ERR_SSL")) {
    return { why: code, hint: "Check the port of the base URL." };
  }
  if (!/CERT|SSL|TLS|SELF_SIGNED|UNABLE_TO_|ISSUER|CRL/.test(code)) return null;
  return { why: code, hint: "To trust your own certificate authority, set NODE_EXTRA_CA_CERTS." };
}
