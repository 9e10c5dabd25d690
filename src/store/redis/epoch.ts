import { randomUUID } from 'node:crypto';
import type { Clock } from '../../../lib/clock.ts';
import { reasonOf } from '../../../lib/reason-of.ts';
import type { RedisConnection } from './connection.ts';
import type { OrderScripts } from './order-scripts.ts';
import { INCOMPLETE } from './record-answers.ts';
import { BEAT, JOIN, LEAVE, RESTORED } from './scripts.ts';

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
  /** Whether this replica remembers how far Redis was. Else one that comes back empty is as good as new. */
  readonly remembers: boolean;
  /** Writes this replica's records back, as far as the epoch lasts. */
  readonly restore: (epoch: string) => Promise<void>;
  readonly onBeat: (held: number | null) => void;
  /** Called with how durable Redis is, by each heartbeat. */
  readonly onDurable: (told: unknown) => void;
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

/** Beyond it a clock was set; two machines' clocks may differ by less. */
const STEP_MS = 60_000;

/**
 * This replica's part in noticing that Redis lost something: it announces itself, and where it finds
 * a new epoch, or has to begin one, it writes its records back before it makes new ones there.
 */
export class RedisEpoch {
  /** The name of this replica, for as long as its process lives. */
  readonly member = randomUUID();
  readonly #options: RedisEpochOptions;
  /** The epoch all of this replica's records are in; null before it has joined one. */
  #epoch: string | null = null;
  #state = 'not connected yet';
  #peers: readonly string[] = [];
  #joining: Promise<void> | null = null;
  #cancelBeat: () => void = () => {};
  #closed = false;
  /** The last one in an open epoch. */
  #last: Heartbeat = {
    redisMs: 0,
    sentMs: Number.POSITIVE_INFINITY,
    answeredMs: 0,
    writes: 0,
    gone: 0,
  };
  /** The epoch in which Redis was found to have gone back, or its clock to have been set, by so much. */
  #over = { epoch: '', byMs: 0 };
  #isIncomplete = false;

  constructor(options: RedisEpochOptions) {
    this.#options = options;
    options.redis.onReady(() => void this.joinOrLater());
    this.#beatLater();
  }

  get current(): string | null {
    return this.#epoch;
  }

  /** The degraded reason that keeps reservations from being made; null while there is none. */
  get degradedReason(): string | null {
    if (this.#state !== 'open') return `the order records in Redis: ${this.#state}`;
    return this.#isIncomplete ? INCOMPLETE : null;
  }

  /** Joins the epoch there is, or begins one, and writes back; callers share one attempt. */
  join(): Promise<void> {
    this.#joining ??= this.#join().finally(() => {
      this.#joining = null;
    });
    return this.#joining;
  }

  /** A failure here is retried by the next heartbeat, or by the connection when it is back. */
  async joinOrLater(): Promise<void> {
    await this.join().catch(() => {});
  }

  /** Called with what a script answered about the epoch, or why it failed. */
  observe(status: string): void {
    this.#state = status === 'lost' || status === 'foreign' ? 'being written back' : status;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#cancelBeat();
    await this.#joining?.catch(() => {});
    await this.#options.scripts.run(LEAVE, [this.member]).catch(() => {});
  }

  async #join(): Promise<void> {
    const { timing, restore, onWarn } = this.#options;
    const { graceMs, leaseMs } = timing;
    const { writes, gone } = this.#last;
    const { epoch: over, byMs } = this.#over;
    const remembered = [...(this.#options.remembers ? [writes, gone] : [0, 0]), over, byMs];
    const args = [this.member, randomUUID(), graceMs, leaseMs, ...remembered, ...this.#peers];
    const [, epoch] = await this.#options.scripts.run(JOIN, args);
    this.#over = { epoch: '', byMs: 0 };
    if (epoch === this.#epoch) return;
    if (this.#epoch !== null) onWarn('Redis may have lost order records: they are written back');
    await restore(String(epoch));
    await this.#options.scripts.run(RESTORED, [this.member, String(epoch)]);
    // Where that is over by now, the next script says so.
    this.#epoch = String(epoch);
    await this.#beat();
  }

  async #beat(): Promise<void> {
    const { timing, onBeat, onDurable, uptimeMs } = this.#options;
    const sentMs = uptimeMs();
    const epoch = this.#epoch ?? '';
    const { redisMs, answeredMs } = this.#last;
    const surelyMs = Math.floor(redisMs + sentMs - answeredMs);
    const args = [this.member, epoch, timing.leaseMs, surelyMs];
    const answer = await this.#options.scripts.run(BEAT, args);
    const [status, durable, held, nowMs, writes, gone, incomplete, ...members] = answer;
    this.observe(String(status));
    if (status === 'open') {
      this.#peers = members.map(String);
      this.#isIncomplete = incomplete === 1;
      onDurable(durable);
    }
    // Where the clock is set back during a new epoch, its opening is as far away again.
    if (status === 'open' || status === 'recovering') {
      this.#remember(epoch, {
        ...{ redisMs: Number(nowMs), sentMs, answeredMs: uptimeMs() },
        ...{ writes: Number(writes), gone: Number(gone) },
      });
    }
    onBeat(status === 'open' ? Number(held) : null);
  }

  #remember(epoch: string, now: Heartbeat): void {
    const { onWarn, remembers } = this.#options;
    const { redisMs, sentMs, answeredMs, writes } = this.#last;
    this.#last = { ...now, writes: Math.max(writes, now.writes) };
    const passedMs = now.redisMs - redisMs;
    // The time between two heartbeats is known but for how long they were under way.
    const aheadMs = passedMs - (now.answeredMs - sentMs);
    const behindMs = now.sentMs - answeredMs - passedMs;
    const byMs = aheadMs > STEP_MS ? aheadMs : behindMs > STEP_MS ? -behindMs : 0;
    const isBehind = remembers && now.writes < writes;
    if (redisMs === 0 || (byMs === 0 && !isBehind)) return;
    this.#over = { epoch, byMs: Math.round(byMs) };
    this.observe('lost');
    if (byMs !== 0) onWarn(`Redis's clock was set by ${Math.round(byMs / 1_000)} s`);
  }

  #beatLater(): void {
    if (this.#closed) return;
    const { clock, timing } = this.#options;
    this.#cancelBeat = clock.after(timing.beatMs, async () => {
      try {
        await this.#beat();
        if (this.#state === 'being written back' || this.#over.epoch !== '') await this.join();
      } catch (error) {
        // The next heartbeat retries. Until then orders are refused for the same reason.
        this.observe(reasonOf(error));
      }
      this.#beatLater();
    });
  }
}
