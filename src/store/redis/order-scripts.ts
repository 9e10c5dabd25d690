import { type Reservation, recordId } from '../order-records.ts';
import type { RedisConnection } from './connection.ts';

/** Runs the scripts of the order records, and names their keys. */
export class OrderScripts {
  /** Hash: which epoch this is, of which run of Redis, and when its reservations begin. */
  readonly marker: string;
  readonly #redis: RedisConnection;
  readonly #prefix: string;

  constructor(redis: RedisConnection, prefix: string) {
    this.#redis = redis;
    // In braces: all keys of a script on one node, should Redis be a cluster behind a proxy.
    this.#prefix = `${prefix}{orders}`;
    this.marker = `${this.#prefix}:epoch`;
  }

  /** `keys`: those after the first four, which every script has. */
  async run(
    script: string,
    args: readonly (string | number)[],
    keys: readonly string[] = [],
  ): Promise<readonly unknown[]> {
    // Sorted set: replicas by the time of their last heartbeat.
    const members = `${this.#prefix}:members`;
    // Sorted set: the replicas of this epoch; 1 while one has to write its records back, 0 once it has.
    const expected = `${this.#prefix}:expected`;
    // Sorted set: every record's id by the time it ends. Each account has one of its own as well.
    const index = `${this.#prefix}:index`;
    const all = [this.marker, members, expected, index, ...keys];
    const reply = await this.#redis.run(script, all, args);
    return Array.isArray(reply) ? reply : [];
  }

  /** The keys of the record, of its account's records, of its account's version, and of its account's closed keys. */
  keysOf({ login, key }: Pick<Reservation, 'login' | 'key'>): [string, string, string, string] {
    return [
      `${this.#prefix}:record:${recordId(login, key)}`,
      `${this.#prefix}:account:${encodeURIComponent(login)}`,
      this.versionOf(login),
      `${this.#prefix}:voids:${encodeURIComponent(login)}`,
    ];
  }

  versionOf(login: string): string {
    return `${this.#prefix}:version:${encodeURIComponent(login)}`;
  }
}
