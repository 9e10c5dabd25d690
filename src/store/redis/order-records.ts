import type { Account } from '../../../lib/account.ts';
import { type Clock, pause } from '../../../lib/clock.ts';
import { reasonOf } from '../../../lib/reason-of.ts';
import { createRecordTable, type RecordTableOptions } from '../memory/record-table.ts';
import { datesOf, type KeyTime } from '../order-gap.ts';
import {
  CLOSED_CANONICAL,
  CUT_OFF_GRACE_MS,
  closedBy,
  closedReservation,
  closingOf,
  HELD,
  KEY_LIFE_MS,
  type OrderRecord,
  type OrderRecords,
  RecordsUnavailableError,
  type Reservation,
  type ReserveRequest,
  rank,
  recordId,
  toReservation,
} from '../order-records.ts';
import { SHARES, shareOf } from '../record-shares.ts';
import { isSettled } from '../settlement.ts';
import { createRedisAccountVersions } from './account-versions.ts';
import {
  connectRedis,
  REDIS_TIMEOUT_MS,
  type RedisConnectionOptions,
  RedisSilentError,
  watchSettings,
} from './connection.ts';
import { copiedScripts, type Written } from './copied-scripts.ts';
import { NotCopiedError, watchCopies } from './copies.ts';
import { assertDurable, type Durability, watchDurability } from './durability.ts';
import { createRedisEpoch, REDIS_TIMING, type RedisTiming } from './epoch.ts';
import { orderScripts } from './order-scripts.ts';
import { addArguments, ageOf, cutOffsIn, readRecord, refusalIn } from './record-answers.ts';
import { isUnwritable } from './redis-health.ts';
import { figureIn } from './replies.ts';
import { CUT_OFF, FIND, RELEASE, RESERVE, VOID } from './scripts.ts';
import { createWriteBack } from './write-back.ts';

export interface RedisOrderRecordsOptions extends RecordTableOptions, RedisConnectionOptions {
  readonly clock: Clock;
  readonly timing?: RedisTiming;
  readonly durability?: Durability;
  /** How many replicas of Redis must have a record; null for the most that were ever seen. */
  readonly redisReplicas?: number | null;
  /** How far the gateway's clock is ahead of this machine's; null while it was not measured. */
  readonly gatewaySkewMs?: (() => number | null) | undefined;
  /** When true, Redis is tried and learns of no replica. */
  readonly isInspection?: boolean;
}

/** How one of the two scripts that make a record is asked for it. */
interface Asked {
  readonly keyTime?: KeyTime | undefined;
  /** When the clocks were read, by the steady one. */
  readonly askedMs?: number;
  /** The outcome of a key that is closed. */
  readonly outcome?: string;
}

/** The time of a key whose client does not say it, at a replica that does not know the gateway's clock. */
const UNKNOWN_TIME: KeyTime = { madeMs: null, laterMs: null, differMs: 0 };
const POLL_MS = 50;

/**
 * Order records that several replicas share. Each replica also keeps the ones it made: it alone
 * settles them, so its copy is never behind, and Redis can be given back what it lost.
 */
export async function openRedisOrderRecords(options: RedisOrderRecordsOptions) {
  const { clock, max, maxPerAccount = max, accounts = '', onWarn, uptimeMs } = options;
  const { prefix, timing = REDIS_TIMING, durability = 'wished' } = options;
  const { gatewaySkewMs = () => null } = options;
  const bounds = { max, maxPerAccount };
  const copies = watchCopies(options.redisReplicas ?? null, uptimeMs);
  // WAIT blocks its connection: heartbeats and questions have another one.
  const [redis, writer] = await Promise.all([connectRedis(options), connectRedis(options)]);
  const disconnect = () => {
    redis.close();
    writer.close();
  };
  if (durability === 'required') {
    await assertDurable(redis).catch((error: unknown) => {
      disconnect();
      throw error;
    });
  }
  const watchedDurability = watchDurability(durability, onWarn);
  const ownTable = createRecordTable({ max: Number.POSITIVE_INFINITY, uptimeMs });
  const common = () => {
    const { laterMs, surelyMs } = datesOf(clock.date(), gatewaySkewMs());
    return [
      ...copies.arguments(),
      Math.ceil(laterMs),
      surelyMs === null ? '' : Math.floor(surelyMs),
    ];
  };
  const scripts = orderScripts(redis, prefix, common);
  const waitMs = Math.round(0.8 * (options.redisTimeoutMs ?? REDIS_TIMEOUT_MS));
  const writes = copiedScripts(writer, orderScripts(writer, prefix, common), copies, waitMs);
  /** Reservations whose answer from Redis was lost: Redis may hold them, and their keys must come free. */
  const unanswered = new Map<string, Reservation>();
  let heldInRedis = 0;
  const versions = createRedisAccountVersions(redis, clock, scripts, options.redisTimeoutMs);
  const { merge, restore } = createWriteBack({
    ownTable,
    scripts,
    writes,
    leaseMs: timing.leaseMs,
    member: () => epochs.member,
    onWarn,
  });
  const epochs = createRedisEpoch({
    redis,
    scripts,
    clock,
    uptimeMs,
    timing,
    accounts,
    onWarn,
    restore,
    onBeat,
    records: ownTable.size,
    remembers: durability === 'required',
    onDurable: watchedDurability.told,
    onCopies: copies.told,
  });

  /** A Redis without room for writes still answers reads; one that lacks its replicas may be a primary no more. */
  async function recordInstead({ account, key }: ReserveRequest, error: unknown) {
    if (!(error instanceof RedisSilentError) || !isUnwritable(error.cause)) throw error;
    const record = await find(account, key);
    // That it can be read says nothing about the next order.
    epochs.observe(reasonOf(error));
    if (record) return record;
    throw new RecordsUnavailableError(error.message, { earlierUnknown: false, cause: error });
  }

  async function release(reservation: Reservation): Promise<void> {
    const { id, account, key } = reservation;
    const own = ownTable.get(account, key);
    // Replicas may have answered `unknown` past its time: the key must not come free after that.
    if (own?.pendingMs === 0) return;
    // First, or it could be written back to Redis behind the release.
    ownTable.release(reservation);
    const record = recordId(account, key);
    const keys = scripts.keysOf(reservation);
    // Behind its reservation, over the same connection.
    const { answer } = await writes.run(RELEASE, [record, id, shareOf(id)], keys);
    if (answer[0] !== 'late') return;
    const ageMs = clock.date() - reservation.reservedAtMs;
    ownTable.adopt(reservation, null, Math.max(0, ageMs));
  }

  /** An operator may have settled an unknown order in Redis, which this replica's own copy does not show. */
  async function ownRecord(account: Account, key: string): Promise<OrderRecord | null> {
    const own = ownTable.get(account, key);
    if (own === null || rank(own.outcome) === 2 || own.pendingMs > 0) return own;
    const keys = scripts.keysOf({ account, key });
    // Where nothing is heard of Redis its own copy is the newest there is.
    const asked = scripts.run(FIND, [epochs.current ?? '', recordId(account, key)], keys);
    const answer = await asked.catch(() => null);
    if (answer?.[0] !== 'held' || answer[1] !== own.id) return own;
    const record = recordIn(answer, { account, key, id: '' });
    return isSettled(record.outcome) ? record : own;
  }

  async function find(account: Account, key: string): Promise<OrderRecord | null> {
    const own = await ownRecord(account, key);
    if (own) return own;
    const keys = scripts.keysOf({ account, key });
    const { answer } = await inOpenEpoch(async (epoch) => ({
      answer: await scripts.run(FIND, [epoch, recordId(account, key)], keys),
    }));
    return answer[0] === 'none' ? null : recordIn(answer, { account, key, id: '' });
  }

  async function reserveOnce(reservation: Reservation, epoch: string, asked: Asked) {
    const { joins } = epochs;
    let isMade = false;
    try {
      const written = await add(RESERVE, reservation, epoch, asked);
      const [status, held, _, wanted] = written.answer;
      if (status === 'reserved') {
        isMade = true;
        // Before any later write is answered: an epoch that begins next gets it written back.
        ownTable.add(reservation);
        heldInRedis = figureIn(held);
        await written.copied(figureIn(wanted));
        assertSameEpoch(joins);
      }
      return written;
    } catch (error) {
      if (isMade || error instanceof RedisSilentError) giveBack(reservation);
      throw error;
    }
  }

  /** An answer of Redis says nothing of what this replica has begun to write back since it asked. */
  function assertSameEpoch(joins: number): void {
    if (epochs.joins === joins) return;
    throw new RecordsUnavailableError('Redis has changed meanwhile', { earlierUnknown: false });
  }

  /** Frees the key of a reservation whose order is not sent, as soon as Redis takes that. */
  function giveBack(reservation: Reservation): void {
    unanswered.set(reservation.id, reservation);
    release(reservation).then(
      () => unanswered.delete(reservation.id),
      () => {},
    );
  }

  /** Runs one of the two scripts that make a record. */
  async function add(
    script: typeof RESERVE | typeof VOID,
    reservation: Reservation,
    epoch: string,
    { keyTime = UNKNOWN_TIME, askedMs = 0, outcome = '' }: Asked,
  ): Promise<Written> {
    const args = [
      ...addArguments(reservation, bounds, [epoch, epochs.member, durability]),
      ...epochs.keyArguments(keyTime, askedMs),
      outcome,
      keyTime.ageMs ?? '',
      KEY_LIFE_MS,
    ];
    const { joins } = epochs;
    const written = await writes.runCopied(script, args, scripts.keysOf(reservation));
    const [status, detail, isNearlyFull] = written.answer;
    if (status === 'held' && isNearlyFull === CLOSED_CANONICAL) {
      // Nobody is told that a key is closed which a failover would open.
      await written.copied();
      assertSameEpoch(joins);
    }
    if (status === 'forgets') watchedDurability.told(detail);
    const isFull = SHARES.some((share) => share === status);
    if (isFull || isNearlyFull === 1) options.onNearlyFull?.();
    return written;
  }

  /** Throws where the script answers with a refusal. */
  function recordIn(
    answer: readonly unknown[],
    { account, key, id }: Pick<Reservation, 'account' | 'key' | 'id'>,
    keyTime?: KeyTime,
  ): OrderRecord {
    if (answer[0] !== 'held') throw refusalIn(answer, bounds, id, keyTime?.madeMs);
    const record = readRecord(answer);
    if (closingOf(record) || isSettled(record.outcome)) {
      // An answer that a key is closed, or its order settled by an operator, writes that back to a Redis which has lost it.
      const { outcome, ...reservation } = record;
      ownTable.adopt({ ...reservation, account, key }, outcome, ageOf(answer));
    }
    return record;
  }

  /** Runs a script that needs an open epoch; waits a little for one, since a first start opens one too. */
  async function inOpenEpoch<T extends Pick<Written, 'answer'>>(
    run: (epoch: string) => Promise<T>,
  ) {
    for (let waitedMs = 0; ; waitedMs += POLL_MS) {
      const ran = await run(epochs.current ?? '').catch((error: unknown) => {
        // Readiness says it with the first order that is refused, not with the next heartbeat.
        if (!(error instanceof NotCopiedError)) epochs.observe(reasonOf(error));
        throw error;
      });
      const [status] = ran.answer;
      const isRefused = status === 'lost' || status === 'foreign' || status === 'recovering';
      epochs.observe(isRefused ? status : 'open');
      if (!isRefused) return ran;
      if (waitedMs >= timing.patienceMs) {
        throw new RecordsUnavailableError('the order records are being written back to Redis');
      }
      if (status !== 'recovering') await epochs.join();
      await pause(clock, POLL_MS);
    }
  }

  function onBeat(held: number | null): void {
    if (held !== null) heldInRedis = held;
    for (const reservation of unanswered.values()) giveBack(reservation);
  }

  const records: OrderRecords = {
    async reserve(request) {
      const own = await ownRecord(request.account, request.key);
      if (own) return { reserved: false, record: own };
      const reservation = toReservation(request);
      const asked = { keyTime: request.keyTime, askedMs: uptimeMs() };
      let answer: readonly unknown[];
      try {
        ({ answer } = await inOpenEpoch((epoch) => reserveOnce(reservation, epoch, asked)));
      } catch (error) {
        return { reserved: false, record: await recordInstead(request, error) };
      }
      const [status] = answer;
      if (status === 'reserved') return { reserved: true, reservation };
      return { reserved: false, record: recordIn(answer, reservation, request.keyTime) };
    },
    async settle(reservation, outcome) {
      ownTable.settle(reservation, outcome);
      const { account, key } = reservation;
      const record = ownTable.find(account, key);
      if (record) await merge([record]);
      const now = ownTable.find(account, key)?.outcome ?? null;
      return isSettled(now) ? now : null;
    },
    release,
    find,
    async voidKey(request) {
      const own = await ownRecord(request.account, request.key);
      if (own) return { voided: false, record: own };
      const reservation = closedReservation(request);
      // The script knows how far Redis remembers.
      const outcome = JSON.stringify(closedBy(request.keyAgeMs, 0));
      const { answer } = await inOpenEpoch((epoch) => add(VOID, reservation, epoch, { outcome }));
      const record = recordIn(answer, reservation);
      return { voided: record.id === reservation.id, record };
    },
    async cutOff() {
      const epoch = epochs.current ?? '';
      const [status, ...found] = await scripts.run(CUT_OFF, [epoch, CUT_OFF_GRACE_MS]);
      return status === 'marked' ? cutOffsIn(found) : [];
    },
    held: () => heldInRedis,
    degradedReason: () =>
      epochs.degradedReason ??
      watchedDurability.refusal() ??
      (heldInRedis >= max ? 'all order records are in use' : null),
    gapReason: () => epochs.gapReason,
    holdReason: () => (epochs.isHeld ? HELD : null),
    async close() {
      await epochs.close();
      disconnect();
    },
  };
  await watchSettings(redis, onWarn);
  // Before the first order, so that the replicas there are know of this one.
  if (!options.isInspection) await epochs.enter();
  return { ...records, scripts, versions, redisIsUp: redis.isReady, copiesReason: copies.reason };
}
