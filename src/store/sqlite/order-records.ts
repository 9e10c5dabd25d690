import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Clock } from '../../../lib/clock.ts';
import {
  AccountRecordsFullError,
  closedReservation,
  HELD,
  type OrderRecord,
  type OrderRecords,
  RecordsForgottenError,
  RecordsFullError,
  RecordsGapError,
  RecordsUnavailableError,
  toReservation,
} from '../order-records.ts';
import type { RecordBounds } from '../record-shares.ts';
import { machineClock } from './machine-clock.ts';
import type { Task, TaskAnswer, TaskRefusal } from './order-task.ts';
import { SqliteFileError } from './sqlite-errors.ts';
import type { FromThread } from './thread.ts';

export interface SqliteOrderRecordsOptions extends RecordBounds {
  readonly path: string;
  /** When true, a file that is a copy stays known as one. */
  readonly isInspection?: boolean | undefined;
  readonly clock: Clock;
  /** How far the gateway's clock is ahead of this machine's; null while it was not measured. */
  readonly gatewaySkewMs?: (() => number | null) | undefined;
  readonly onWarn: (message: string) => void;
}

interface Waiting extends PromiseWithResolvers<TaskAnswer> {
  readonly task: Task;
}

const CHECK_MS = 1_000;
// The thread gives up on a locked file earlier, but nothing ends a system call that hangs.
const PATIENCE_MS = 5_000;
// A longer batch would delay other processes that use the file.
const BATCH_TASKS = 200;
const TOO_LATE = 'the order records take too long to answer';

/**
 * Order records that survive the process, in a file that several processes of one machine may share:
 * each is on the disk before its order is sent. Throws a SqliteFileError where the file cannot be used.
 */
export async function openSqliteOrderRecords({
  path,
  isInspection,
  accounts,
  max,
  maxPerAccount = Number.POSITIVE_INFINITY,
  onNearlyFull,
  clock,
  gatewaySkewMs = () => null,
  onWarn,
}: SqliteOrderRecordsOptions): Promise<OrderRecords> {
  let held = 0;
  let degradedReason: string | null = null;
  let gapReason: string | null = null;
  let isHeld = false;
  let state: 'open' | 'closing' | 'ended' = 'open';
  /** Tasks that are queued during one batch form the next. */
  const queue: Waiting[] = [];
  let underWay: Waiting[] = [];
  const opening = Promise.withResolvers<void>();
  const workerData = { path, isInspection, accounts, max, maxPerAccount };
  const thread = new Worker(new URL('./thread.ts', import.meta.url), { workerData });
  thread.on('message', (message: FromThread) => {
    if (message.kind === 'warning') return onWarn(message.warning);
    if (message.kind === 'nearly full') return onNearlyFull?.();
    if (message.kind === 'refusal') return opening.reject(new SqliteFileError(message.reason));
    ({ held, degradedReason, gapReason, isHeld } = message);
    opening.resolve();
    for (const [n, { resolve }] of underWay.entries()) resolve(message.answers[n] ?? null);
    post();
  });
  thread.on('error', (error) => onWarn(`a thread has failed: ${error}`));
  thread.on('exit', () => {
    state = 'ended';
    degradedReason = 'the thread of the order records has ended';
    for (const { reject } of [opening, ...underWay, ...queue.splice(0)]) reject(closed());
  });
  await opening.promise;

  function post() {
    underWay = queue.splice(0, BATCH_TASKS);
    const tasks = underWay.map(({ task }) => task);
    if (tasks.length > 0) thread.postMessage({ tasks, skewMs: gatewaySkewMs() });
    else if (state === 'closing') thread.postMessage(null);
  }

  async function ask(task: Task): Promise<OrderRecord | null> {
    const answer = await answerTo(task);
    if (answer?.kind === 'cut off') throw new RecordsUnavailableError('an answer out of turn');
    return answer?.record ?? null;
  }

  async function answerTo(task: Task) {
    if (state !== 'open') throw closed();
    const waiting = { task, ...Promise.withResolvers<TaskAnswer>() };
    queue.push(waiting);
    if (underWay.length === 0) post();
    const answer = await waiting.promise;
    if (answer === null || answer.kind === 'record' || answer.kind === 'cut off') return answer;
    throw errorOf(answer, task);
  }

  function errorOf(refusal: TaskRefusal, task: Task): RecordsUnavailableError {
    switch (refusal.kind) {
      case 'unavailable':
        return new RecordsUnavailableError(refusal.reason);
      case 'unused':
        return new RecordsUnavailableError(refusal.reason, { earlierUnknown: false });
      case 'forgotten':
        return new RecordsForgottenError();
      case 'full':
        return new RecordsFullError(max, refusal.freeInMs);
      case 'gap':
        return new RecordsGapError(
          refusal.untilMs,
          task.do === 'reserve' ? task.keyTime?.madeMs : null,
        );
      case 'share': {
        const id = task.do === 'reserve' || task.do === 'void' ? task.reservation.id : '';
        const bounds = { max, maxPerAccount };
        return new AccountRecordsFullError(bounds, id, refusal.whose, refusal.freeInMs);
      }
    }
  }

  function askInTime(task: Task, onLate = () => {}) {
    const { promise: late, reject } = Promise.withResolvers<never>();
    const expire = () => {
      onLate();
      reject(new RecordsUnavailableError(TOO_LATE));
    };
    // An answer that came while the whole process was paused is in time.
    const cancel = clock.after(PATIENCE_MS, () => setImmediate(expire));
    return Promise.race([ask(task), late]).finally(cancel);
  }

  // Detects without an order that the file is damaged, or can be used again.
  let cancelCheck = clock.after(CHECK_MS, function check() {
    const again = () => {
      if (state === 'open') cancelCheck = clock.after(CHECK_MS, check);
    };
    const onLate = () => {
      degradedReason = TOO_LATE;
    };
    askInTime({ do: 'check' }, onLate).then(again, again);
  });

  return {
    async reserve(request) {
      const reservation = toReservation(request);
      const uptimeMs = machineClock.uptimeMs();
      const keyTime = request.keyTime && { ...request.keyTime, uptimeMs };
      const record = await ask({ do: 'reserve', reservation, keyTime });
      return record ? { reserved: false, record } : { reserved: true, reservation };
    },
    async settle(reservation, outcome) {
      const settled = await ask({ do: 'settle', reservation, outcome });
      return settled?.outcome ?? null;
    },
    release: async (reservation) => {
      await ask({ do: 'release', reservation });
    },
    find: (account, key) => askInTime({ do: 'find', account, key }),
    async voidKey(request) {
      const reservation = closedReservation(request);
      const record = await askInTime({ do: 'void', reservation, request });
      if (!record) throw new RecordsUnavailableError('the key was not closed');
      return { voided: record.id === reservation.id, record };
    },
    async cutOff() {
      const answer = await answerTo({ do: 'cut off' });
      return answer?.kind === 'cut off' ? answer.orders : [];
    },
    held: () => held,
    degradedReason: () => degradedReason,
    gapReason: () => gapReason,
    holdReason: () => (isHeld ? HELD : null),
    /** Tasks that were queued before are still answered. */
    async close() {
      cancelCheck();
      if (state === 'ended') return;
      state = 'closing';
      if (underWay.length === 0) post();
      await once(thread, 'exit');
    },
  };
}

function closed() {
  return new RecordsUnavailableError('the order records are closed');
}
