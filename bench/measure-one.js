// Runs the bench that is named, for run.js: tells it the rows.
import { benches } from "./benches.js";

process.send?.(await benches[process.argv[2] ?? ""]());
process.disconnect?.();
