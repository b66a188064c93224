// Runs the given bench for run.js, and sends it the rows.
import { benches } from "./benches.js";

process.send?.(await benches[process.argv[2] ?? ""]());
process.disconnect?.();
