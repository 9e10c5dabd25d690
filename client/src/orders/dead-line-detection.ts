import type { Core } from '../core.ts';
import type { TradingGraphError } from '../errors.ts';
import { type Deadline, withinTime } from '../request/deadline.ts';
import { PING } from '../request/ping.ts';

/**
 * Runs a task within a time that ends at once where the line is dead: no answer has come for so long that it is
 * doubted, and a ping beside it stays unanswered as well. Behind a slow gateway the ping is answered. The doubt comes
 * within the first half of the time, so that the other half is left for another line.
 */
export async function withDeadLineDetection<T>(
  { environment, serverClock, request }: Core,
  ms: number,
  parent: AbortSignal,
  task: (time: Deadline) => Promise<T>,
  onDead: (error: TradingGraphError) => void,
): Promise<T> {
  return withinTime(environment, ms, parent, async (time) => {
    const halfMs = Math.min(serverClock.doubtMs, ms / 2) / 2;
    const cancel = environment.after(halfMs, async () => {
      let hasLeft = false;
      const leaving = () => {
        hasLeft = true;
      };
      const { errors } = await withinTime(environment, halfMs, time.signal, ({ signal }) =>
        request(PING, {}, { repeats: false, signal, leaving }),
      );
      const error = errors.find(isOfLine);
      if (time.signal.aborted || !hasLeft || error === undefined) return;
      serverClock.onDead();
      onDead(error);
      time.end();
    });
    try {
      return await task(time);
    } finally {
      cancel();
      time.end();
    }
  });
}

/** A proxy that answers in place of the server has the line work. */
function isOfLine({ code, cause }: TradingGraphError): boolean {
  return code === 'ABORTED' || (code === 'NETWORK' && cause !== undefined);
}
