import { isUnknown } from '../order-records.ts';
import type { OperatorRecords } from '../settlement.ts';
import { trailFiles } from '../trail-file.ts';
import { openSource } from './copy-order-file.ts';
import { machineClock } from './machine-clock.ts';
import { openOrderDatabase } from './order-database.ts';
import { isIntact, isOver, toRecord } from './order-rows.ts';
import { DAMAGED, SqliteFileError } from './sqlite-errors.ts';

interface OperatorFileOptions {
  readonly path: string;
  readonly max: number;
  readonly trailDays: number;
  readonly onWarn: (message: string) => void;
}

/** The order records of a file, for operators. Reading alone verifies nothing, and holds up no order. */
export function operatorFile(options: OperatorFileOptions): OperatorRecords {
  const clock = machineClock;
  const source = openSource(options.path);
  return {
    async find(account, key) {
      const row = source.find(account, key);
      if (row === undefined || isOver(row, clock)) return null;
      if (!isIntact(row)) throw new SqliteFileError(DAMAGED);
      return toRecord(row, clock);
    },
    async *list(account, onlyUnknown) {
      let portion = source.from(Number.NEGATIVE_INFINITY);
      while (portion.length > 0) {
        for (const row of portion) {
          if (row.account !== (account ?? row.account) || isOver(row, clock)) continue;
          if (!isIntact(row)) continue;
          const record = toRecord(row, clock);
          if (onlyUnknown && !isUnknown(record)) continue;
          yield { account: row.account, key: row.key, record };
        }
        portion = source.from((portion.at(-1)?.id ?? 0) + 1);
      }
    },
    async settle(request) {
      const database = openOrderDatabase({
        ...options,
        clock,
        mustExist: true,
        isInspection: true,
      });
      try {
        return database.settle(request);
      } finally {
        database.close();
      }
    },
    trail: trailFiles(options.path, options.trailDays),
    close: () => source[Symbol.dispose](),
  };
}
