import type { OperatorRecords } from '../operator-records.ts';
import { HELD, isUnknown } from '../order-records.ts';
import { copyOrderFile, openSource, type Source } from './copy-order-file.ts';
import { machineClock } from './machine-clock.ts';
import { moveOrderFile } from './move-order-file.ts';
import { type OrderDatabase, openOrderDatabase } from './order-database.ts';
import { setHold } from './order-hold.ts';
import { isIntact, isOver, toRecord } from './order-rows.ts';
import { DAMAGED, SqliteFileError } from './sqlite-errors.ts';

interface OperatorFileOptions {
  readonly path: string;
  readonly max: number;
  readonly onWarn: (message: string) => void;
}

/** The order records of a file, for operators. Reading alone verifies nothing, and holds up no order. */
export function operatorFile(options: OperatorFileOptions): OperatorRecords {
  const clock = machineClock;
  const { path, onWarn } = options;
  let opened: Source | null = null;
  const source = () => {
    opened ??= openSource(path);
    return opened;
  };

  /** Verifies the whole file. */
  function inDatabase<T>(change: (database: OrderDatabase) => T): T {
    const database = openOrderDatabase({ ...options, clock, mustExist: true, isInspection: true });
    try {
      return change(database);
    } finally {
      database.close();
    }
  }

  return {
    async find(account, key) {
      const row = source().find(account, key);
      if (row === undefined || isOver(row, clock)) return null;
      if (!isIntact(row)) throw new SqliteFileError(DAMAGED);
      return toRecord(row, clock);
    },
    async *list(account, onlyUnknown) {
      let portion = source().from(Number.NEGATIVE_INFINITY);
      while (portion.length > 0) {
        for (const row of portion) {
          if (row.account !== (account ?? row.account) || isOver(row, clock)) continue;
          if (!isIntact(row)) continue;
          const record = toRecord(row, clock);
          if (onlyUnknown && !isUnknown(record)) continue;
          yield { account: row.account, key: row.key, record };
        }
        portion = source().from((portion.at(-1)?.id ?? 0) + 1);
      }
    },
    settle: async (request) => inDatabase((database) => database.settle(request)),
    status: async (declared) =>
      inDatabase((database) => {
        if (declared === 'complete') database.declareComplete();
        if (declared === 'incomplete') database.declareIncomplete();
        const { held, degradedReason, gapReason, isHeld } = database.run([]);
        const hold = isHeld ? `orders are ${HELD}` : null;
        return { held, replicas: null, refusedFor: degradedReason ?? hold, gap: gapReason };
      }),
    free: async (account) => inDatabase((database) => database.free(account)),
    // Nothing is verified: an operator in an outage has no half minute.
    async hold(toHold) {
      setHold(path, toHold);
      return true;
    },
    file: {
      copyTo: (to) => copyOrderFile(path, to),
      moveTo: (to) => moveOrderFile(path, to, { clock, onWarn }),
    },
    close: () => opened?.[Symbol.dispose](),
  };
}
