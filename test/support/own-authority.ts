import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "./temporary-folder.ts";

export interface OwnAuthority {
  /** The certificate of the authority, for NODE_EXTRA_CA_CERTS. */
  readonly file: string;
  readonly key: Buffer;
  readonly cert: Buffer;
}

/** Whether this machine has openssl, which makes the certificates of a test. */
export const hasOpenssl = spawnSync("openssl", ["version"]).status === 0;

/** A new certificate authority, and a certificate of it for the given hosts, valid for `days`. */
export function ownAuthority(hosts: readonly string[], days = 2): OwnAuthority {
  const folder = temporaryFolder();
  const at = (name: string) => join(folder, name);
  const openssl = (...args: string[]) => {
    const ran = spawnSync("openssl", args, { encoding: "utf8" });
    if (ran.status !== 0) throw new Error(`openssl ${args[0]}: ${ran.stderr}`);
  };
  const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  openssl(
    ...["req", "-x509", ...newKey, "-days", "2", "-subj", "/CN=authority of a test"],
    ...["-keyout", at("ca.key"), "-out", at("ca.pem")],
  );
  openssl("req", ...newKey, "-subj", `/CN=${hosts[0]}`, "-keyout", at("key.pem"), "-out", at("csr.pem"));
  writeFileSync(at("extensions"), `subjectAltName=${hosts.map((host) => `DNS:${host}`).join(",")}\n`);
  openssl(
    ...["x509", "-req", "-in", at("csr.pem"), "-CA", at("ca.pem"), "-CAkey", at("ca.key"), "-CAcreateserial"],
    ...["-days", String(days), "-extfile", at("extensions"), "-out", at("cert.pem")],
  );
  return { file: at("ca.pem"), key: readFileSync(at("key.pem")), cert: readFileSync(at("cert.pem")) };
}
