import { createHmac } from "node:crypto";
import { expect, test } from "vitest";
import { signDelivery } from "../../../src/contract/signature.ts";
import { createWorld } from "../../support/world.ts";

const secret = "whsec_0123456789abcdef";
const body = '{"id":"evt_1","type":"task.failed"}';
const seconds = Date.parse("2026-01-05T09:00:00Z") / 1000;
const sign = (text: string, t: number) =>
  `t=${t},v1=${createHmac("sha256", secret).update(`${t}.${text}`).digest("hex")}`;

const verify = async (header: string, flags = "", env: Record<string, string | undefined> = {}) => {
  const world = await createWorld({ env: { CAT_WEBHOOK_SECRET: secret, CAT_API_KEY: undefined, ...env } });
  world.write("body.json", body);
  const ran = await world.cat(
    ["webhooks", "verify", "--header", header, ...flags.split(" ").filter(Boolean)],
    {
      stdin: body,
    },
  );
  expect(world.requests()).toEqual([]);
  return ran;
};

test("cat webhooks verify accepts a genuine delivery from a file or standard input", async () => {
  const header = sign(body, seconds - 12);
  const valid = { exit: 0, stdout: "valid: signed 12 s ago\n", stderr: "" };
  expect(await verify(header)).toEqual(valid);
  expect(await verify(header, "--file -")).toEqual(valid);
  expect(await verify(`Service-Signature: ${header}`, "--file body.json")).toEqual(valid);
  expect((await verify(header, "--json")).stdout).toBe('{"valid":true,"age_seconds":12}\n');
});

test.each([
  [
    "an old timestamp",
    sign(body, seconds - 400),
    "",
    "the signature is 400 s old, 100 s more than the tolerance of 300 s\nCheck the clock of this machine. To check an old delivery, add --tolerance SECONDS.",
  ],
  [
    "another body",
    sign(`${body} x`, seconds),
    "",
    "the signature was made with another secret, or over another body\nUse the signing_secret of this webhook. It changes with each rotation.",
  ],
  [
    "an added line end",
    sign(`${body}\n`, seconds),
    "",
    "the secret is right, but the body was changed after signing: space or line ends around it were added or removed\nVerify the raw bytes of the request, before anything parses or converts them.",
  ],
])("cat webhooks verify exits with 3 and the reason for %s", async (_name, header, flags, text) => {
  expect(await verify(header, flags)).toEqual({
    exit: 3,
    stdout: "",
    stderr: `error: invalid signature: ${text}\n`,
  });
});

test("cat webhooks verify accepts an old delivery with a wider tolerance", async () => {
  expect((await verify(sign(body, seconds - 400), "--tolerance 400")).exit).toBe(0);
});

test("cat webhooks verify exits with 4 without a secret", async () => {
  expect(await verify(sign(body, seconds), "", { CAT_WEBHOOK_SECRET: undefined })).toEqual({
    exit: 4,
    stdout: "",
    stderr:
      "error: no webhook secret\nSet CAT_WEBHOOK_SECRET to the signing_secret of the webhook (it starts with whsec_).\n",
  });
});

test("cat webhooks verify exits with 2 for a file that cannot be read", async () => {
  const ran = await verify(sign(body, seconds), "--file none.json");
  expect([ran.exit, ran.stdout]).toEqual([2, ""]);
  expect(ran.stderr).toMatch(/^error: cannot open \S+none\.json: no such file or folder\n/);
  const folder = await verify(sign(body, seconds), "--file ..");
  expect(folder.stderr).toMatch(/^error: cannot read \/\S+: it is a folder\n/);
});

test("cat webhooks verify names the limit of the tolerance", async () => {
  expect((await verify(sign(body, seconds), "--tolerance 999999999")).exit).toBe(0);
  const ran = await verify(sign(body, seconds), "--tolerance 99999999999999");
  expect([ran.exit, ran.stderr]).toEqual([
    2,
    'error: invalid --tolerance "99999999999999": use a whole number from 0 to 999999999\nSee: cat webhooks verify --help\n',
  ]);
});

test("cat webhooks verify warns about a secret without whsec_, and checks with it", async () => {
  const short = { CAT_WEBHOOK_SECRET: secret.slice(6) };
  const warning =
    "CAT_WEBHOOK_SECRET does not start with whsec_: use the complete signing_secret of the webhook";
  const ran = await verify(sign(body, seconds), "", short);
  expect([ran.exit, ran.stderr.split("\n")]).toEqual([
    3,
    [
      `warning: ${warning}`,
      "error: invalid signature: the signature was made with another secret, or over another body",
      "Use the complete signing_secret, including whsec_.",
      "",
    ],
  ]);
  const header = signDelivery(short.CAT_WEBHOOK_SECRET, body, seconds);
  expect(await verify(header, "--json", short)).toEqual({
    exit: 0,
    stdout: '{"valid":true,"age_seconds":0}\n',
    stderr: `${JSON.stringify({ warning: { message: warning } })}\n`,
  });
});
