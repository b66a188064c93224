import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { Ajv } from "ajv";

/** The check of bills of materials by the schema of CycloneDX. */
export function cycloneDxCheck() {
  const library = dirname(
    createRequire(import.meta.url).resolve("@cyclonedx/cyclonedx-library/package.json"),
  );
  const schema = (name: string) =>
    JSON.parse(readFileSync(join(library, "res/schema", `${name}.SNAPSHOT.schema.json`), "utf8"));
  const formats = {
    "date-time": true,
    email: true,
    "idn-email": true,
    "iri-reference": true,
    uri: true,
  } as const;
  const ajv = new Ajv({ strict: false, formats });
  for (const name of ["spdx", "jsf-0.82", "cryptography-defs"]) {
    const file = `http://cyclonedx.org/schema/${name}.SNAPSHOT.schema.json`;
    ajv.addSchema({ ...schema(name), $id: file }, file);
  }
  return ajv.compile(schema("bom-1.6"));
}
