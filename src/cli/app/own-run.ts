import type { ListedRun } from "../../state/run-list.ts";
import type { State } from "../../state/state.ts";

/** The run of a command that has opened none with progress of its own. */
type OwnRun = Pick<ListedRun, "id" | "kind" | "file" | "startedAt" | "origin">;

const noResult = {
  ...{ baseUrl: null, ledger: null, endedAt: null, exit: null, counts: null, undone: null },
  ...{ isUndoable: false, isRunning: false, isUnfinished: false },
};

/** Adds a run to the list of a profile, as running. */
export function addOwnRun({ runList }: State, own: OwnRun, pid: number) {
  runList.add({ ...own, ...noResult, isUnfinished: true });
  const hold = runList.hold(own.id, { pid, since: own.startedAt });
  return {
    end(result: Pick<ListedRun, "baseUrl" | "endedAt" | "exit" | "counts">): void {
      runList.add({ ...own, ...noResult, ...result });
      hold?.release();
    },
    remove(): void {
      runList.remove(own.id);
      hold?.release();
    },
  };
}
