import { randomUUID } from 'node:crypto';
import {
  type OrderRecord,
  RECORD_LIFE_MS,
  type RecordedOutcome,
  type Reservation,
  type ReserveAnswer,
  type ReserveRequest,
  rank,
  recordId,
  toOrderRecord,
} from '../../../src/store/order-records.ts';
import type { TestRedis } from '../../support/redis.ts';
import { asFormerOutcome } from '../former-reader.ts';
import * as former from './former-scripts.ts';

const PREFIX = 'trading-graph:{orders}';
const MOST = 1_000;

/** What a replica of the version before does with the records in Redis, but for the copies in its own memory. */
export class FormerRecords {
  readonly #redis: TestRedis;
  readonly #member = randomUUID();

  constructor(redis: TestRedis) {
    this.#redis = redis;
  }

  /** Begins an epoch where Redis has none, and says that this replica has nothing to write back. */
  async join(): Promise<void> {
    const [, epoch] = await this.#run(former.JOIN, [], [this.#member, randomUUID(), 0, 60_000]);
    await this.#run(former.RESTORED, [], [this.#member, String(epoch)]);
  }

  async reserve(request: ReserveRequest): Promise<ReserveAnswer> {
    const { login, key, canonical, reservedAtMs, pendingMs } = request;
    const reservation = { ...request, id: randomUUID() };
    const answer = await this.#run(former.RESERVE, this.#keysOf(request), [
      ...[await this.#epoch(), recordId(login, key), this.#member, reservation.id, canonical],
      ...[reservedAtMs, pendingMs, RECORD_LIFE_MS, MOST, MOST],
    ]);
    if (answer[0] === 'reserved') return { reserved: true, reservation };
    return { reserved: false, record: toRecord(answer) };
  }

  async find(login: string, key: string): Promise<OrderRecord | null> {
    const args = [await this.#epoch(), recordId(login, key)];
    const answer = await this.#run(former.FIND, this.#keysOf({ login, key }), args);
    return answer[0] === 'none' ? null : toRecord(answer);
  }

  async release(reservation: Reservation): Promise<void> {
    const args = [recordId(reservation.login, reservation.key), reservation.id];
    await this.#run(former.RELEASE, this.#keysOf(reservation), args);
  }

  /** Answers how many keys were reserved by others meanwhile. */
  async settle(reservation: Reservation, outcome: RecordedOutcome | null): Promise<number> {
    const { id, login, key, canonical, reservedAtMs } = reservation;
    const [, conflicts] = await this.#run(former.MERGE, this.#keysOf(reservation), [
      ...['none', 0, this.#member, recordId(login, key), id, canonical, reservedAtMs],
      ...[0, RECORD_LIFE_MS, rank(outcome), JSON.stringify(outcome), 0],
    ]);
    return Number(conflicts);
  }

  async #epoch(): Promise<string> {
    return String(await this.#redis.command('HGET', `${PREFIX}:epoch`, 'epoch'));
  }

  async #run(script: string, keys: readonly string[], args: readonly (string | number)[]) {
    const all = ['epoch', 'members', 'expected', 'index'].map((name) => `${PREFIX}:${name}`);
    all.push(...keys);
    return (await this.#redis.command('EVAL', script, all.length, ...all, ...args)) as unknown[];
  }

  #keysOf({ login, key }: { login: string; key: string }): string[] {
    const account = encodeURIComponent(login);
    const record = `${PREFIX}:record:${recordId(login, key)}`;
    return [record, `${PREFIX}:account:${account}`, `${PREFIX}:version:${account}`];
  }
}

/** Throws for every answer but a record. What it reads of an outcome is what it has a name for. */
function toRecord(answer: readonly unknown[]): OrderRecord {
  const [status, id, canonical, reservedAtMs, pendingMs, outcome] = answer;
  if (status !== 'held') throw new Error(`Redis answers ${status}`);
  const of = { id: String(id), canonical: String(canonical), reservedAtMs: Number(reservedAtMs) };
  return toOrderRecord(of, asFormerOutcome(JSON.parse(String(outcome))), Number(pendingMs));
}
