import type { Clock } from '../../../lib/clock.ts';
import { MAX_WAITING } from './limits.ts';

/** Callers who wait until they may go, for each key in the order of their arrival, for a bounded time. */
export function createQueue(clock: Clock, patienceMs: number) {
  const lines = new Map<string, Set<() => boolean>>();
  let size = 0;

  return {
    /** Resolves to false where too many wait, the turn has not come in time, or nobody waits for it any more. */
    wait(key: string, mayGo: () => boolean, signal?: AbortSignal): Promise<boolean> {
      const line = lines.get(key) ?? new Set();
      const isFull = line.size >= MAX_WAITING.line || size >= MAX_WAITING.all;
      if (isFull || signal?.aborted) return Promise.resolve(false);
      lines.set(key, line);
      size += 1;
      const { promise, resolve } = Promise.withResolvers<boolean>();
      const end = (hasGone: boolean) => {
        cancel();
        signal?.removeEventListener('abort', leave);
        line.delete(next);
        size -= 1;
        if (line.size === 0) lines.delete(key);
        resolve(hasGone);
        return hasGone;
      };
      const next = () => mayGo() && end(true);
      const leave = () => {
        end(false);
      };
      // Time alone may have made room.
      const cancel = clock.after(patienceMs, () => next() || leave());
      signal?.addEventListener('abort', leave);
      line.add(next);
      return promise;
    },
    /** Lets those go who may, up to the first that may not. */
    wake(key: string): void {
      for (const next of lines.get(key) ?? []) if (!next()) return;
    },
  };
}
