// Loaded before the program: its clock jumps by a day with each SIGUSR2, as after a night with the lid closed, and
// starts where earlier processes left it.
const now = Date.now;
let sleptMs = Number(process.env.SOAK_SLEPT_MS);
Date.now = () => now() + sleptMs;
process.on("SIGUSR2", () => {
  sleptMs += Number(process.env.SOAK_NIGHT_MS);
});
