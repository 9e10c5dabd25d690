import { randomUUID } from 'node:crypto';
import type { Clock } from '../../lib/clock.ts';
import { createFillWarning } from '../fill-warning.ts';
import type { RecordBounds } from '../memory/record-table.ts';
import {
  AccountRecordsFullError,
  type OrderRecords,
  RecordsUnavailableError,
} from '../order-records.ts';
import { BatchingThread } from './batching-thread.ts';
import type { Batch, Task } from './order-database.ts';
import { SqliteFileError } from './sqlite-errors.ts';

export interface SqliteOrderRecordsOptions extends RecordBounds {
  readonly path: string;
  readonly clock: Clock;
  readonly onWarn: (message: string) => void;
}

const CHECK_MS = 1_000;
// The thread gives up on a locked file earlier, but nothing ends a system call that hangs.
const PATIENCE_MS = 5_000;
const TOO_LATE = 'the order records take too long to answer';

/**
 * Order records that survive the process, in a file that several processes of one machine may share:
 * each is on the disk before its order is sent. Throws a SqliteFileError where the file cannot be used.
 */
export async function openSqliteOrderRecords({
  path,
  max,
  maxPerAccount = Number.POSITIVE_INFINITY,
  onAccountHeld,
  clock,
  onWarn,
}: SqliteOrderRecordsOptions): Promise<OrderRecords> {
  const warnOfFill = createFillWarning(max, onWarn);
  let held = 0;
  let degradedReason: string | null = null;
  const thread = await BatchingThread.start<Task, Batch>({
    script: new URL('./thread.ts', import.meta.url),
    workerData: { path, max, maxPerAccount },
    onWarn,
    onEnd() {
      degradedReason = 'the thread of the order records has ended';
    },
    onResult(batch) {
      ({ held, degradedReason } = batch);
      warnOfFill(held);
      for (const [login, count] of batch.accounts) onAccountHeld?.(login, count);
    },
  }).catch((error: Error) => {
    throw new SqliteFileError(error.message, { cause: error });
  });

  async function ask(task: Task) {
    const [batch, index] = await thread.ask(task).catch((cause: unknown) => {
      throw new RecordsUnavailableError('the order records are closed', { cause });
    });
    const answer = batch.answers[index] ?? null;
    if (typeof answer === 'string') throw new RecordsUnavailableError(answer);
    if (answer && 'freeInMs' in answer) {
      throw new AccountRecordsFullError(maxPerAccount, answer.freeInMs);
    }
    return answer;
  }

  function askInTime(task: Task, onLate = () => {}) {
    const { promise: late, reject } = Promise.withResolvers<never>();
    const cancel = clock.after(PATIENCE_MS, () => {
      onLate();
      reject(new RecordsUnavailableError(TOO_LATE));
    });
    return Promise.race([ask(task), late]).finally(cancel);
  }

  // Detects without an order that the file is damaged, or can be used again.
  let isClosed = false;
  let cancelCheck = clock.after(CHECK_MS, function check() {
    const again = () => {
      if (!isClosed) cancelCheck = clock.after(CHECK_MS, check);
    };
    const onLate = () => {
      degradedReason = TOO_LATE;
    };
    askInTime({ do: 'check' }, onLate).then(again, again);
  });

  return {
    async reserve(request) {
      const reservation = { ...request, id: randomUUID() };
      const record = await ask({ do: 'reserve', reservation });
      return record ? { reserved: false, record } : { reserved: true, reservation };
    },
    settle: async (reservation, outcome) => {
      await ask({ do: 'settle', reservation, outcome });
    },
    release: async (reservation) => {
      await ask({ do: 'release', reservation });
    },
    find: (login, key) => askInTime({ do: 'find', login, key }),
    held: () => held,
    degradedReason: () => degradedReason,
    async close() {
      isClosed = true;
      cancelCheck();
      await thread.close();
    },
  };
}
