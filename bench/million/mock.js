// A mock with so many demo products and images of 1,000 bytes, without rate limits. Asked by its parent, it says how many requests of
// each kind it has served, and what that took.
import "./pictures.js";
import { readFileSync } from "node:fs";
import { startMock } from "../../dist/mock.js";

const served = {};
const kindOf = (method, path) =>
  `${method} ${path
    .replace(/\?.*/, "")
    .replace(/\/[0-9A-Z]{26}/g, "/ID")
    .replace(/\/_signed\/.*/, "image")}`;

const mock = await startMock({
  seed: 1,
  demo: Number(process.argv[2]),
  rateLimit: false,
  onRequest: ({ method, path, status }) => {
    const kind = `${kindOf(method, path)}${status < 400 ? "" : ` ${status}`}`;
    served[kind] = (served[kind] ?? 0) + 1;
  },
});
process.on("message", () => {
  const { user, system } = process.cpuUsage();
  const peak = Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1]);
  process.send({ served, cpu_s: (user + system) / 1e6, peak_mb: Math.round(peak / 1024) });
});
process.on("disconnect", () => process.exit());
process.send({ base_url: mock.baseUrl });
