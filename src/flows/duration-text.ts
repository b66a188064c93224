/** A duration for users: `5.0 s`, `47 s`, `12 min 3 s`, `2.5 h`. */
export function durationText(ms: number): string {
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7200
    ? `${Math.floor(seconds / 60)} min ${seconds % 60} s`
    : `${(seconds / 3600).toFixed(1)} h`;
}
