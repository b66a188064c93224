import { createHmac } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { verifySignature } from "../../../src/contract/signature.ts";
import { explainRejection } from "../../../src/flows/listen/explain-rejection.ts";

const secret = "whsec_0123456789abcdef";
const seconds = 1_767_603_600;
const event = { id: "evt_1", type: "task.failed", data: { task: { id: "01J", status: "Größe/🧥" } } };
const body = JSON.stringify(event);
/** Signed here by hand, so that the code under test does not check itself. */
const sign = (signed: string, { t = seconds, key = secret } = {}) =>
  `t=${t},v1=${createHmac("sha256", key).update(`${t}.${signed}`).digest("hex")}`;

function explain(delivery: { header?: string; rawBody?: string; secret?: string }) {
  const input = { header: sign(body), rawBody: body, secret, toleranceSeconds: 300, ...delivery };
  const verdict = verifySignature({ ...input, now: seconds * 1000 });
  if (verdict.ok) throw new Error("accepted");
  return explainRejection(verdict, input, "Service-Signature");
}

test.each([
  ["missing", { header: "" }, "the header Service-Signature is missing"],
  ["malformed", { header: "sha256=abc" }, "the header Service-Signature is not of the form t=SECONDS,v1=HEX"],
  [
    "out_of_tolerance",
    { header: sign(body, { t: seconds - 412 }) },
    "the signature is 412 s old, 112 s more than the tolerance of 300 s",
  ],
  [
    "out_of_tolerance",
    { header: sign(body, { t: seconds + 301 }) },
    "the signature is from 301 s in the future, 1 s more than the tolerance of 300 s",
  ],
  [
    "mismatch",
    { header: sign(body, { key: "whsec_other" }) },
    "the signature was made with another secret, or over another body",
  ],
  ["mismatch", { secret: `${secret}\n` }, "the secret has spaces or a line break around it"],
])("the listener says why a signature was rejected: %s", (reason, delivery, message) => {
  expect(explain(delivery)).toMatchObject({ code: `signature_${reason}`, message });
});

test("advises the complete secret if it lacks its prefix", () => {
  expect(explain({ secret: secret.slice("whsec_".length) }).hint).toBe(
    "Use the complete signing_secret, including whsec_.",
  );
});

test.each([
  ["a line end that an editor added", body, `${body}\n`, "space or line ends around it"],
  ["a line end that a shell removed", `${body}\n`, body, "space or line ends around it"],
  ["Windows line ends", '{\n"a":1\n}', '{\r\n"a":1\r\n}', "its line ends were converted"],
  ["Unix line ends", '{\r\n"a":1\r\n}', '{\n"a":1\n}', "its line ends were converted"],
  ["a byte order mark", body, `\uFEFF${body}`, "a byte order mark"],
  ["compact JSON, printed with indentation", body, JSON.stringify(event, null, 2), "its JSON was parsed"],
  ["indented JSON, printed compact", JSON.stringify(event, null, 2), body, "its JSON was parsed"],
])("recognizes the right secret over a changed body: %s", (_name, signed, received, change) => {
  const problem = explain({ header: sign(signed), rawBody: received });
  expect(problem.code).toBe("signature_reencoded");
  expect(problem.message).toContain(`the secret is right, but the body was changed after signing: ${change}`);
});

test("the listener never calls the secret right when another one signed the body", () => {
  const texts = fc.oneof(fc.json(), fc.string(), fc.constant(body));
  fc.assert(
    fc.property(texts, texts, (signed, received) => {
      const header = sign(signed, { key: "whsec_other" });
      expect(explain({ header, rawBody: received }).code).toBe("signature_mismatch");
    }),
  );
});

test("the listener names no part of the secret or of the signature", () => {
  for (const key of ["whsec_other", secret]) {
    const { message, hint } = explain({ header: sign(`${body}x`, { key }) });
    expect(`${message} ${hint}`).not.toMatch(/0123456789|v1=[0-9a-f]/);
  }
});
