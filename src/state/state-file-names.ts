/**
 * Whether a file next to a state of that name belongs to it: the state itself, SQLite's files while it is
 * open, the locks of its runs, or a file being created. Ignores case, because some file systems do.
 */
export function isNameOfState(name: string, stateName: string): boolean {
  const [own, whole] = [stateName.toLowerCase(), name.toLowerCase()];
  return (
    whole.startsWith(own) && /^(?:|-wal|-shm|-journal|-(?:hold|new)-[0-9]+)$/.test(whole.slice(own.length))
  );
}
