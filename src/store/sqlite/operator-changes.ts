import type { Account } from '../../../lib/account.ts';
import type { OrderRecord } from '../order-records.ts';
import { rank } from '../order-records.ts';
import {
  agree,
  isSettled,
  LATE_ANSWER_MS,
  type SettleAnswer,
  type SettleRequest,
} from '../settlement.ts';
import { ageMs, type MachineClock, machineMoment } from './machine-clock.ts';
import type { OrderFile } from './order-file.ts';
import * as rows from './order-rows.ts';
import type { RowScan } from './scan-rows.ts';

/** The `pendingMs` of a record with an outcome that counts for no account: with one nothing is pending. */
const FREED = -1;
/** The deadline of an order whose record was freed is not known. */
const LONGEST_PENDING_MS = 3_600_000;

interface OperatorOptions {
  readonly file: OrderFile;
  readonly statements: rows.Statements;
  readonly scan: RowScan;
  readonly clock: MachineClock;
  readonly byId: (id: number) => rows.OrderRow | undefined;
  /** Throws where the record is damaged. */
  readonly rowOf: (of: { account: Account; key: string }) => rows.OrderRow | null;
  readonly update: (row: rows.OrderRow) => void;
  readonly drop: (id: number) => void;
  readonly onComplete: () => void;
}

/** The changes that an operator makes in the file, beside the processes that use it. */
export function operatorChanges(options: OperatorOptions) {
  const { file, statements, scan, clock, byId, rowOf, update, drop } = options;
  return {
    /** The operator's mark that records are missing. */
    declareIncomplete(): void {
      file.change(() => {
        file.state.incompleteFrom = JSON.stringify(machineMoment(clock));
        file.rememberFrom(machineMoment(clock));
      });
    },
    /** The operator's mark that orders whose records are missing or damaged may be sent again. */
    declareComplete(): void {
      file.change(() => {
        // First: a row cannot be taken out of an index that does not have it.
        file.database.exec('REINDEX');
        for (const id of scan.damagedRows) drop(id);
        scan.unindexedKeys.clear();
        options.onComplete();
        file.state.incompleteFrom = null;
        file.adopt();
      });
    },
    /** The operator's word that what an account has counts no more; its keys stay used up. What is pending goes on counting. */
    free(account: Account): number {
      let freed = 0;
      file.change(() => {
        for (const { id } of statements.ofAccount.all(account)) {
          const row = byId(Number(id));
          if (!row?.isIndexed || !rows.isIntact(row) || row.outcome === null || row.pendingMs < 0)
            continue;
          update({ ...row, pendingMs: FREED });
          freed += 1;
        }
      });
      return freed;
    },
    /** The operator's word on what became of an order that is unknown. Throws a RecordsUnavailableError where its record is damaged. */
    settle({ account, key, outcome }: SettleRequest): SettleAnswer {
      let answer: SettleAnswer = { kind: 'none' };
      file.change(() => {
        const row = rowOf({ account, key });
        if (row && !rows.isOver(row, clock)) answer = settleRow(row);
      });
      return answer;

      function settleRow(row: rows.OrderRow): SettleAnswer {
        const record: OrderRecord = rows.toRecord(row, clock);
        if (rank(record.outcome) === 2) {
          const isSame = isSettled(record.outcome) && agree(record.outcome, outcome);
          return { kind: isSame ? 'settled' : 'known', record };
        }
        const pendingMs = row.pendingMs === FREED ? LONGEST_PENDING_MS : row.pendingMs;
        const leftMs = pendingMs + LATE_ANSWER_MS - ageMs(row, clock);
        if (leftMs > 0) return { kind: 'early', leftMs };
        update({ ...row, outcome: JSON.stringify(outcome) });
        return { kind: 'settled', record: { ...record, outcome } };
      }
    },
  };
}
