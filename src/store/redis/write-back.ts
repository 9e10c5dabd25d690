import type { RecordTable, TableRecord } from '../memory/record-table.ts';
import { isSettled } from '../settlement.ts';
import type { CopiedScripts } from './copied-scripts.ts';
import type { OrderScripts } from './order-scripts.ts';
import { mergeArguments } from './record-answers.ts';
import { figureIn, outcomeIn } from './replies.ts';
import { MERGE } from './scripts.ts';

const MERGE_RECORDS = 200;
/** In place of the epoch that is written back to, where it is an outcome. */
const NO_EPOCH = 'none';

interface WriteBackOptions {
  readonly ownTable: RecordTable;
  readonly scripts: Pick<OrderScripts, 'keysOf'>;
  readonly writes: CopiedScripts;
  readonly leaseMs: number;
  /** The name of this replica. */
  readonly member: () => string;
  readonly onWarn: (message: string) => void;
}

/** Gives Redis this replica's copies where it has none, or an older one. */
export function createWriteBack(options: WriteBackOptions) {
  const { ownTable, scripts, writes, leaseMs, member, onWarn } = options;

  async function merge(records: readonly TableRecord[], epoch = NO_EPOCH): Promise<void> {
    const keys = records.flatMap(({ reservation }) => scripts.keysOf(reservation));
    const args = records.flatMap((record) => mergeArguments(record, ownTable));
    const all = [epoch, leaseMs, member(), ...args];
    // Records that are written back were on the replicas of Redis once: nobody waits until they are again.
    const run = epoch === NO_EPOCH ? writes.runCopied : writes.run;
    const { answer, copied } = await run(MERGE, all, keys);
    const [, conflicts, ...settled] = answer;
    if (figureIn(conflicts) > 0) {
      onWarn(`${conflicts} order keys were reserved twice while Redis had lost them`);
    }
    for (let at = 0; at < settled.length; at += 2) {
      const record = records[figureIn(settled[at])];
      if (record) settleOwn(record, settled[at + 1]);
    }
    if (epoch === NO_EPOCH) await copied();
  }

  /** An operator's word takes the place of what this replica knows: it is told by all of them alike. */
  function settleOwn({ reservation, outcome, bornAtMs }: TableRecord, told: unknown): void {
    const settled = outcomeIn(told);
    if (isSettled(outcome) || !isSettled(settled)) return;
    ownTable.adopt(reservation, settled, ownTable.ageMs({ bornAtMs }));
  }

  return {
    merge,
    async restore(epoch: string): Promise<void> {
      let batch: TableRecord[] = [];
      for (const record of ownTable.values()) {
        batch.push(record);
        if (batch.length < MERGE_RECORDS) continue;
        await merge(batch, epoch);
        batch = [];
      }
      await merge(batch, epoch);
    },
  };
}
