import type { Clock } from '../../../lib/clock.ts';
import { NotAttemptedError } from '../errors.ts';
import { type Exchange, exchanged, type Send, type WireCall } from '../exchange.ts';
import type { Area } from '../operations.ts';
import { accountOf } from './breakers.ts';

const FULL =
  'the connections that calls of its kind may use were taken for as long as it could wait';

type Waiting = () => void;

type Bulkhead = ReturnType<typeof createBulkhead>;

/** How many places a caller may have beside others, and without; a `reserve` of places is for callers that have none. */
interface Shares {
  readonly beside: number;
  readonly alone: number;
  readonly reserve: number;
}

/** For so long after another one has asked for a place a caller is beside others. */
const BESIDE_MS = 60_000;

/**
 * Bounds the connections that calls of one kind hold. Where none is free callers take turns, however many calls each has. With
 * shares a caller leaves places to the others, whatever becomes of its own calls.
 */
export function createBulkhead(clock: Clock, width: number, shares?: Shares) {
  /** The waiting calls by caller; the first caller has the next turn. */
  const lines = new Map<string, Set<Waiting>>();
  /** The places of each caller; kept where there are shares. */
  const held = new Map<string, number>();
  /** The two callers that asked last, and when. */
  let [latest, former] = [NOBODY, NOBODY];
  let taken = 0;
  let waiting = 0;

  function fits(caller: string): boolean {
    if (taken >= width) return false;
    if (shares === undefined) return true;
    const own = held.get(caller) ?? 0;
    if (own === 0) return true;
    const other = latest.caller === caller ? former : latest;
    const isBeside = clock.now() - other.atMs < BESIDE_MS;
    return taken < width - shares.reserve && own < (isBeside ? shares.beside : shares.alone);
  }

  function take(caller: string): void {
    taken += 1;
    if (shares !== undefined) held.set(caller, (held.get(caller) ?? 0) + 1);
  }

  return {
    get waiting(): number {
      return waiting;
    },
    /** Notes that the caller asks for a place. True where it has room at once. */
    ask(caller: string): boolean {
      if (shares !== undefined) {
        if (latest.caller !== caller) former = latest;
        latest = { caller, atMs: clock.now() };
      }
      return fits(caller);
    },
    take,
    /** Resolves to false where none came free in time: then there is nothing to leave. */
    enter(
      caller: string,
      timeoutMs: number,
      signal: AbortSignal | undefined,
    ): true | Promise<boolean> {
      if (fits(caller)) {
        take(caller);
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
    leave(caller: string): void {
      taken -= 1;
      if (shares !== undefined) {
        const rest = (held.get(caller) ?? 0) - 1;
        if (rest > 0) held.set(caller, rest);
        else held.delete(caller);
      }
      for (const [next, line] of lines) {
        if (!fits(next)) continue;
        const [call] = line;
        lines.delete(next);
        if (line.size > 1) lines.set(next, line);
        take(next);
        call?.();
        return;
      }
    },
  };
}

const NOBODY = { caller: '', atMs: Number.NEGATIVE_INFINITY };

export type Bulkheads = ReturnType<typeof createBulkheads>;

/** The bulkheads of one area. An account's orders have a quarter of the connections, and three quarters where nobody else orders. */
export function createBulkheads(clock: Clock, width: number, isOfOrders: boolean) {
  const half = Math.ceil(width / 2);
  const quarters = (count: number) => Math.max(1, Math.floor((width * count) / 4));
  const alone = quarters(3);
  const shares = isOfOrders ? { beside: quarters(1), alone, reserve: width - alone } : undefined;
  const eighth = Math.max(1, Math.floor(width / 8));
  return {
    all: createBulkhead(clock, width, shares),
    /** Callers without a proved account have a share, so that strangers leave half of the connections to customers. */
    unproved: createBulkhead(clock, half),
    /** The feeds' polls have a share, so that they never take every connection for reads. */
    polls: createBulkhead(clock, half),
    /** Orders that are read on past their deadlines keep their places, but for half of an account's, and half of all. */
    late: createBulkhead(clock, width - half, { beside: eighth, alone: eighth, reserve: 0 }),
  };
}

/** `orderWaitMs`: the longest wait of an order, whose user has tapped and looks at the screen. */
export function withBulkheads(
  send: Send,
  areas: Readonly<Record<Area, Bulkheads>>,
  clock: Clock,
  orderWaitMs: number,
): Send {
  async function sendInTurn(
    call: WireCall,
    area: Bulkheads,
    wanted: readonly Bulkhead[],
    caller: string,
  ): Promise<Exchange> {
    const endsAtMs = clock.now() + call.deadlineMs;
    const { effect } = call.row;
    // A call that is sent with little of its deadline left would be answered too late, and count as the gateway's time-out.
    const halfMs = call.deadlineMs / 2;
    const waitMs = effect === 'order' ? Math.min(orderWaitMs, halfMs) : halfMs;
    const waitEndsAtMs = clock.now() + waitMs;
    // A small write that has not begun is for nobody once its client has left; an order goes its way.
    const signals = { read: call.signal, write: call.caller.signal, order: undefined };
    const entered: Bulkhead[] = [];
    const leave = () => {
      for (const bulkhead of entered.splice(0)) bulkhead.leave(caller);
    };
    try {
      for (const bulkhead of wanted) {
        const place = bulkhead.enter(caller, waitEndsAtMs - clock.now(), signals[effect]);
        if (place !== true && !(await place)) {
          leave();
          return { sent: false, cause: new NotAttemptedError('busy', FULL) };
        }
        entered.push(bulkhead);
      }
      const admitted = { ...call, deadlineMs: Math.max(1, endsAtMs - clock.now()) };
      return await exchanged((each, end) => sendHeld(each, area, leave, caller, end), admitted);
    } catch (cause) {
      leave();
      throw cause;
    }
  }

  /** The places are left with the end of the call, or with that of a late answer. */
  function sendHeld(
    call: WireCall,
    { late }: Bulkheads,
    leave: () => void,
    caller: string,
    end: (exchange: Exchange) => void,
  ): void {
    const { onLate } = call;
    if (onLate === undefined) {
      send(call, (exchange) => {
        leave();
        end(exchange);
      });
      return;
    }
    let isLate = false;
    const mayBeLate = () => {
      isLate = late.ask(caller);
      if (isLate) late.take(caller);
      return isLate;
    };
    const onLateAnswer = (exchange: Exchange) => {
      late.leave(caller);
      leave();
      onLate(exchange);
    };
    send({ ...call, mayBeLate, onLate: onLateAnswer }, (exchange) => {
      if (!isLate) leave();
      end(exchange);
    });
  }

  return (call, end) => {
    const area = areas[call.row.area];
    if (area === undefined) return send(call, end);
    const { key, isProved } = accountOf(call.caller);
    const shares = isProved ? [area.all] : [area.unproved, area.all];
    const wanted = call.caller.priority === 'poll' ? [area.polls, ...shares] : shares;
    // Nearly always there is room, and nothing to wait for.
    if (!wanted.every((bulkhead) => bulkhead.ask(key))) {
      // A call that rejects has not reached the wire.
      const failed = (cause: unknown) => end({ sent: false, cause });
      sendInTurn(call, area, wanted, key).then(end, failed);
      return;
    }
    for (const bulkhead of wanted) bulkhead.take(key);
    const leave = () => {
      for (const bulkhead of wanted) bulkhead.leave(key);
    };
    sendHeld(call, area, leave, key, end);
  };
}
