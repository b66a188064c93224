// `npm run scale`: writes docs/scale.md from the measured numbers and the limits of the service.
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { measured } from "./scale/measured.ts";
import { scalePage } from "./scale/page.ts";

writeFileSync(fileURLToPath(new URL("../docs/scale.md", import.meta.url)), scalePage(measured));
