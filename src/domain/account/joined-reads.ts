import type { OperationName } from '../../gateway/operations.ts';
import type { Account } from '../../lib/account.ts';
import { memo } from '../../lib/caches.ts';
import { type LogicalClock, steadyClock } from '../../lib/clock.ts';
import type { Viewer } from '../auth/viewer.ts';

/** A call under way. When the call ends, null replaces its answer and its signal. */
interface JoinableCall {
  readonly account: Account;
  readonly logicalTime: number;
  signal: AbortSignal | null | undefined;
  answer: Promise<unknown> | null;
}

type Send<T> = (viewer: Viewer) => Promise<T>;

interface Demand {
  readonly after?: number;
  readonly request?: string;
}

/**
 * Concurrent reads of one token share one gateway call. A read joins no call that began before the account's last write was
 * answered, so a client that reads after a write gets data from after it.
 */
export class JoinedReads {
  readonly #logicalClock: LogicalClock;
  /** The calls under way that a read can join, by operation, then by token and request. */
  readonly #calls = new Map<OperationName, Map<string, JoinableCall>>();

  constructor(logicalClock: LogicalClock) {
    this.#logicalClock = logicalClock;
  }

  isReading({ tokenHash }: Viewer, operation: OperationName): boolean {
    return this.#callsOf(operation).has(tokenHash);
  }

  /** `after`: only a call that began after this logical time is joined. `request` distinguishes reads of one operation. */
  read<T>(
    viewer: Viewer,
    operation: OperationName,
    send: Send<T>,
    demand: Demand = {},
  ): Promise<T> {
    const { after = 0, request = '' } = demand;
    const { tokenHash } = viewer;
    // Most reads have no request. The hash alone is a key that needs no new string.
    const key = request === '' ? tokenHash : `${tokenHash} ${request}`;
    const calls = this.#callsOf(operation);
    const joined = calls.get(key);
    if (joined === undefined || joined.logicalTime <= after) {
      return this.#begin(calls, key, viewer, send);
    }
    const startedAtMs = steadyClock.now();
    const { answer, signal } = joined;
    const join = async () => {
      try {
        return (await answer) as T;
      } catch (error) {
        // If only the client that made the call has left, the others read again.
        const isOthersAbort = signal?.aborted === true && !viewer.signal?.aborted;
        if (!isOthersAbort) throw error;
        return this.read(viewer, operation, send, demand);
      } finally {
        viewer.receipt?.({ operation, ms: steadyClock.now() - startedAtMs, source: 'shared' });
      }
    };
    return join();
  }

  /** Called when a write of the account was answered, or an order has changed it. Later reads do not join earlier calls. */
  written(account: Account): void {
    for (const calls of this.#calls.values()) {
      for (const [key, call] of calls) if (call.account === account) calls.delete(key);
    }
  }

  #callsOf(operation: OperationName): Map<string, JoinableCall> {
    return memo(this.#calls, operation, () => new Map());
  }

  #begin<T>(
    calls: Map<string, JoinableCall>,
    key: string,
    viewer: Viewer,
    send: Send<T>,
  ): Promise<T> {
    const { account, signal } = viewer;
    const logicalTime = this.#logicalClock.next();
    const answer = send(viewer);
    const call: JoinableCall = { account, logicalTime, signal, answer };
    const ended = () => {
      if (calls.get(key) === call) calls.delete(key);
      // When a Map grows, V8 links its old table to the new one. A dead table in old space keeps the entries of all later
      // tables alive until a major GC, and each entry would keep a whole request.
      call.signal = null;
      call.answer = null;
    };
    calls.set(key, call);
    // The caller handles a rejection. `finally` would add three promises to each read.
    answer.then(ended, ended);
    return answer;
  }
}
