import { randomUUID } from 'node:crypto';
import type { Clock } from '../../../lib/clock.ts';
import { fireAndForget } from '../../../lib/fire-and-forget.ts';
import { reasonOf } from '../../../lib/reason-of.ts';
import { CLOCKS_DIFFER_MS, gapReason, type KeyTime } from '../order-gap.ts';
import { IS_NEW, RENAMED, RecordsUnavailableError } from '../order-records.ts';
import type { RedisConnection } from './connection.ts';
import { BEAT, JOIN, LEAVE, RESTORED } from './epoch-scripts.ts';
import type { OrderScripts } from './order-scripts.ts';
import { momentIn } from './record-answers.ts';
import { figureIn, textIn } from './replies.ts';

export type RedisTiming = Readonly<Record<keyof typeof REDIS_TIMING, number>>;

export const REDIS_TIMING = {
  beatMs: 500,
  /** A new epoch takes no reservation before this: every living replica has noticed it by then. */
  graceMs: 2_000,
  /** A replica that was alive lately is waited for so long, then taken for dead: no shorter than `graceMs`. */
  leaseMs: 10_000,
  /** The longest time an order waits for an epoch to open before it is refused. */
  patienceMs: 4_000,
};

export interface RedisEpochOptions {
  readonly redis: Pick<RedisConnection, 'onReady'>;
  readonly scripts: OrderScripts;
  readonly clock: Clock;
  /** A steady clock. */
  readonly uptimeMs: () => number;
  readonly timing: RedisTiming;
  /** The settings that name the accounts. */
  readonly accounts: string;
  /** Whether this replica remembers how far Redis was. Else one that comes back empty is as good as new. */
  readonly remembers: boolean;
  /** Writes this replica's records back, as far as the epoch lasts. */
  readonly restore: (epoch: string) => Promise<void>;
  /** How many records this replica has to write back. */
  readonly records: () => number;
  readonly onBeat: (held: number | null) => void;
  /** Called with how durable Redis is, by each heartbeat. */
  readonly onDurable: (told: unknown) => void;
  /** Called with how many replicas of Redis are connected, and the most that ever were. */
  readonly onCopies: (connected: number, most: number) => void;
  readonly onWarn: (message: string) => void;
}

/** When a heartbeat was sent and answered, and what it told: the time by Redis's clock, and how far Redis was. */
interface Heartbeat {
  readonly sentMs: number;
  readonly answeredMs: number;
  readonly redisMs: number;
  readonly writes: number;
  readonly gone: number;
}

interface Gap {
  readonly name: string;
  readonly seenMs: number;
  readonly untilMs: number | null;
}

/** A larger step means that a clock was set; two machines' clocks may differ by less. */
const STEP_MS = 60_000;

/**
 * This replica's part in noticing that Redis lost something: it announces itself, and where it finds
 * a new epoch, or has to begin one, it writes its records back before it makes new ones there.
 */
export function createRedisEpoch(options: RedisEpochOptions) {
  const { scripts, clock, uptimeMs, timing, accounts, remembers, restore, onWarn } = options;
  /** The name of this replica, for as long as its process lives. */
  const member = randomUUID();
  /** The epoch all of this replica's records are in; null before it has joined one. */
  let current: string | null = null;
  /** How often this replica has begun to write its records back. */
  let joins = 0;
  let state = 'not connected yet';
  let peers: readonly string[] = [];
  let joining: Promise<void> | null = null;
  let cancelBeat = () => {};
  let isClosed = false;
  /** The last one in an open epoch. */
  let last: Heartbeat = {
    redisMs: 0,
    sentMs: Number.POSITIVE_INFINITY,
    answeredMs: 0,
    writes: 0,
    gone: 0,
  };
  /** The epoch in which Redis was found to have gone back, or its clock to have been set. */
  let overEpoch = '';
  /** The gap of the records by its name, empty where there is none, since when this replica knows of it, and its end. */
  let gap: Gap = { name: '', seenMs: 0, untilMs: null };
  let isHeld = false;

  /** Called with what a script answered about the epoch, or why it failed. */
  function observe(status: string): void {
    state = status === 'lost' || status === 'foreign' ? 'being written back' : status;
  }

  /** Joins the epoch there is, or begins one, and writes back; callers share one attempt. */
  function join(): Promise<void> {
    joining ??= joinOnce().finally(() => {
      joining = null;
    });
    return joining;
  }

  /** A failure here is retried by the next heartbeat, or by the connection when it is back. */
  async function joinOrLater(): Promise<void> {
    await join().catch(() => {});
  }

  async function joinOnce(): Promise<void> {
    const { graceMs, leaseMs } = timing;
    const known = remembers ? [last.writes, last.gone] : [0, 0];
    const remembered = [...known, overEpoch];
    const args = [member, randomUUID(), graceMs, leaseMs, ...remembered, accounts, ...peers];
    const [status, epoch, isNew] = await scripts.run(JOIN, args);
    if (status === 'renamed') {
      observe(RENAMED);
      throw new RecordsUnavailableError(RENAMED);
    }
    overEpoch = '';
    if (epoch === current) return;
    if (current !== null) onWarn('Redis may have lost order records: they are written back');
    else if (isNew === 1) onWarn(`${scripts.marker} in Redis ${IS_NEW}`);
    joins += 1;
    await restore(textIn(epoch));
    await scripts.run(RESTORED, [member, textIn(epoch)]);
    // Where that is over by now, the next script says so.
    current = textIn(epoch);
    await beat();
  }

  async function beat(): Promise<void> {
    const sentMs = uptimeMs();
    const epoch = current ?? '';
    const answer = await scripts.run(BEAT, [member, epoch, timing.leaseMs]);
    const [status, durable, records, nowMs, writes, gone, gapName, until, held, ...more] = answer;
    const [connected, mostCopies, ...members] = more;
    observe(String(status));
    if (status === 'open' || status === 'recovering') {
      options.onCopies(figureIn(connected), figureIn(mostCopies));
    }
    if (status === 'open') {
      peers = members.map(String);
      const name = textIn(gapName);
      const seenMs = name === gap.name ? gap.seenMs : uptimeMs();
      gap = { name, seenMs, untilMs: momentIn(until) };
      isHeld = held === 1;
      options.onDurable(durable);
    }
    // Where the clock is set back during a new epoch, its opening is as far away again.
    if (status === 'open' || status === 'recovering') {
      remember(epoch, {
        redisMs: figureIn(nowMs),
        sentMs,
        answeredMs: uptimeMs(),
        writes: figureIn(writes),
        gone: figureIn(gone),
      });
    }
    options.onBeat(status === 'open' ? figureIn(records) : null);
  }

  function remember(epoch: string, now: Heartbeat): void {
    const { redisMs, sentMs, answeredMs, writes } = last;
    last = { ...now, writes: Math.max(writes, now.writes) };
    const passedMs = now.redisMs - redisMs;
    // The time between two heartbeats is known but for how long they were under way.
    const aheadMs = passedMs - (now.answeredMs - sentMs);
    const behindMs = now.sentMs - answeredMs - passedMs;
    const byMs = aheadMs > STEP_MS ? aheadMs : behindMs > STEP_MS ? -behindMs : 0;
    const isBehind = remembers && now.writes < writes;
    if (redisMs === 0 || (byMs === 0 && !isBehind)) return;
    overEpoch = epoch;
    observe('lost');
    if (byMs !== 0) onWarn(`Redis's clock was set by ${Math.round(byMs / 1_000)} s`);
  }

  function beatLater(): void {
    if (isClosed) return;
    cancelBeat = clock.after(timing.beatMs, async () => {
      try {
        await beat();
        if (state === 'being written back' || overEpoch !== '') await join();
      } catch (error) {
        // The next heartbeat retries. Until then orders are refused for the same reason.
        observe(reasonOf(error));
      }
      beatLater();
    });
  }

  return {
    member,
    join,
    /** Makes this replica one of those that are waited for, until it is closed. */
    enter(): Promise<void> {
      options.redis.onReady(() => fireAndForget('redis', joinOrLater()));
      beatLater();
      return joinOrLater();
    },
    observe,
    get current(): string | null {
      return current;
    },
    /** A record whose answer comes after this has changed may be missing in the epoch there is now. */
    get joins(): number {
      return joins;
    },
    /** The degraded reason that keeps reservations from being made; null while there is none. */
    get degradedReason(): string | null {
      return state === 'open' ? null : `the order records in Redis: ${state}`;
    },
    /** Why keys are refused that were made before it; null where there is no gap. */
    get gapReason(): string | null {
      return gap.name === '' ? null : gapReason('the order records in Redis', gap.untilMs);
    },
    /** Whether an operator holds orders back. */
    get isHeld(): boolean {
      return isHeld;
    },
    /**
     * The arguments by which a script judges a key's time: that, the gap that is known here, when it ended by the later of the clocks, and
     * how far they are apart. Clocks that were read, at `askedMs`, before the gap was seen here say nothing of it.
     */
    keyArguments({ madeMs, laterMs, differMs }: KeyTime, askedMs: number): (string | number)[] {
      const { name, seenMs } = gap;
      const isKnown = laterMs !== null && askedMs >= seenMs;
      const foundMs = isKnown ? laterMs - (askedMs - seenMs) : 0;
      const untilMs = isKnown ? Math.ceil(foundMs + differMs + CLOCKS_DIFFER_MS) : '';
      return [madeMs ?? '', name, untilMs, differMs];
    },
    async close(): Promise<void> {
      isClosed = true;
      cancelBeat();
      await joining?.catch(() => {});
      await scripts.run(LEAVE, [member, options.records()]).catch(() => {});
    },
  };
}
