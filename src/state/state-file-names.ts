/**
 * Whether a file beside a state of that name belongs to it: itself, what SQLite keeps while it is open, the locks on its
 * runs, or one that is being made. Case does not count, as it does not everywhere.
 */
export function isNameOfState(name: string, stateName: string): boolean {
  const [own, whole] = [stateName.toLowerCase(), name.toLowerCase()];
  return (
    whole.startsWith(own) && /^(?:|-wal|-shm|-journal|-(?:hold|new)-[0-9]+)$/.test(whole.slice(own.length))
  );
}
