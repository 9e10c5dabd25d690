import type { Clock } from '../../../lib/clock.ts';
import { NotAttemptedError } from '../errors.ts';
import { type Exchange, exchanged, type Send, type WireCall } from '../exchange.ts';
import type { Area } from '../operations.ts';
import { accountOf } from './breakers.ts';

const FULL =
  'the connections that calls of its kind may use were taken for as long as it could wait';

type Waiting = () => void;

type Bulkhead = ReturnType<typeof createBulkhead>;

/** Bounds the connections that calls of one kind hold. Where none is free callers take turns, however many calls each has. */
export function createBulkhead(clock: Clock, width: number) {
  /** The waiting calls by caller; the first caller has the next turn. */
  const lines = new Map<string, Set<Waiting>>();
  let taken = 0;
  let waiting = 0;

  return {
    get waiting(): number {
      return waiting;
    },
    get hasRoom(): boolean {
      return taken < width;
    },
    /** Resolves to false where none came free in time: then there is nothing to leave. */
    enter(
      caller: string,
      timeoutMs: number,
      signal: AbortSignal | undefined,
    ): true | Promise<boolean> {
      if (taken < width) {
        taken += 1;
        return true;
      }
      return new Promise((resolve) => {
        const line = lines.get(caller) ?? new Set();
        const end = (hasPlace: boolean) => {
          waiting -= 1;
          line.delete(next);
          if (line.size === 0) lines.delete(caller);
          cancel();
          signal?.removeEventListener('abort', giveUp);
          resolve(hasPlace);
        };
        const next = () => end(true);
        const giveUp = () => end(false);
        const cancel = clock.after(timeoutMs, giveUp);
        signal?.addEventListener('abort', giveUp);
        lines.set(caller, line.add(next));
        waiting += 1;
      });
    },
    leave(): void {
      const [first] = lines;
      if (first === undefined) {
        taken -= 1;
        return;
      }
      const [caller, line] = first;
      const [next] = line;
      lines.delete(caller);
      if (line.size > 1) lines.set(caller, line);
      // The place passes to the next call without coming free in between.
      next?.();
    },
  };
}

export type Bulkheads = ReturnType<typeof createBulkheads>;

/** The bulkheads of one area. */
export function createBulkheads(clock: Clock, width: number) {
  const half = Math.ceil(width / 2);
  return {
    all: createBulkhead(clock, width),
    /** Callers without a proved account have a share, so that strangers leave half of the connections to customers. */
    unproved: createBulkhead(clock, half),
    /** The feeds' polls have a share, so that they never take every connection for reads. */
    polls: createBulkhead(clock, half),
  };
}

/** A call whose area has none goes straight to its pool. */
export function withBulkheads(
  send: Send,
  areas: Readonly<Partial<Record<Area, Bulkheads>>>,
  clock: Clock,
): Send {
  async function sendInTurn(
    call: WireCall,
    wanted: readonly Bulkhead[],
    caller: string,
  ): Promise<Exchange> {
    const endsAtMs = clock.now() + call.deadlineMs;
    // A write that has not begun is for nobody once its client has left.
    const signal = call.row.effect === 'read' ? call.signal : call.caller.signal;
    const entered: Bulkhead[] = [];
    let admitted = call;
    try {
      for (const bulkhead of wanted) {
        const place = bulkhead.enter(caller, endsAtMs - clock.now(), signal);
        if (place !== true) {
          if (!(await place)) return { sent: false, cause: new NotAttemptedError('busy', FULL) };
          admitted = { ...call, deadlineMs: Math.max(1, endsAtMs - clock.now()) };
        }
        entered.push(bulkhead);
      }
      return await exchanged(send, admitted);
    } finally {
      for (const bulkhead of entered) bulkhead.leave();
    }
  }

  return (call, end) => {
    const area = areas[call.row.area];
    if (area === undefined) return send(call, end);
    const { key, isProved } = accountOf(call.caller);
    const shares = isProved ? [area.all] : [area.unproved, area.all];
    const wanted = call.caller.priority === 'poll' ? [area.polls, ...shares] : shares;
    // Nearly always there is room, and nothing to wait for.
    const hasRoom = wanted.every((bulkhead) => bulkhead.hasRoom);
    if (!hasRoom) {
      // A call that rejects has not reached the wire.
      const failed = (cause: unknown) => end({ sent: false, cause });
      sendInTurn(call, wanted, key).then(end, failed);
      return;
    }
    for (const bulkhead of wanted) bulkhead.enter(key, 0, undefined);
    send(call, (exchange) => {
      for (const bulkhead of wanted) bulkhead.leave();
      end(exchange);
    });
  };
}
