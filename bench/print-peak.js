// Preloaded into a measured process: leaves its peak memory on stdout when it ends.
process.on("exit", () => process.stdout.write(`peak ${Math.round(process.resourceUsage().maxRSS / 1024)}\n`));
