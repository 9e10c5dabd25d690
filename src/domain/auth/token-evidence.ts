import type { Account } from '../../lib/account.ts';
import { accountClient, type Client } from '../../lib/limits/client.ts';
import type { Viewer } from './viewer.ts';

/** The evidence for one token: its signature, and the gateway's last answers. */
export class TokenEvidence {
  readonly account: Account;
  readonly #expiresAtMs: number | null;
  /** Whether this service verified the token's signature with a configured key. */
  isSigned = false;
  /** Whether the gateway has answered the snapshot of the token's own login with 200. */
  ownsLogin = false;
  /** When a 200 last proved the token; -Infinity if none has. */
  acceptedAtMs = -Infinity;
  /** The group that the last snapshot named, and when that snapshot arrived. */
  snapshotGroup: string | null = null;
  snapshotAtMs = -Infinity;
  #catalogGroup: string | null = null;
  #catalogAtMs = -Infinity;
  #client: Client | null = null;

  constructor({ account, expiresAtMs }: Pick<Viewer, 'account' | 'expiresAtMs'>) {
    this.account = account;
    this.#expiresAtMs = expiresAtMs;
  }

  /** The client that limits are charged to; null once the token has expired. */
  clientAt(nowMs: number): Client | null {
    if (nowMs >= (this.#expiresAtMs ?? Infinity)) return null;
    this.#client ??= accountClient(this.account);
    return this.#client;
  }

  /** When an answer last proved the group; -Infinity if none has. */
  groupAtMs(group: string): number {
    return Math.max(
      this.snapshotGroup === group ? this.snapshotAtMs : -Infinity,
      this.#catalogGroup === group ? this.#catalogAtMs : -Infinity,
    );
  }

  /** Records a 200 of op 1. */
  provesCatalog(group: string, atMs: number): void {
    this.#catalogGroup = group;
    this.#catalogAtMs = atMs;
  }

  /** Records a 200 of op 10 for the token's own login. */
  provesLogin(group: string | null, atMs: number): void {
    this.ownsLogin = true;
    this.acceptedAtMs = atMs;
    this.snapshotGroup = group;
    this.snapshotAtMs = atMs;
  }

  /** Records a 403 of op 1 for a group, or of op 10, which ends the evidence of every group. */
  losesGroup(group: string | null): void {
    if (group === null || group === this.#catalogGroup) this.#catalogAtMs = -Infinity;
    if (group === null || group === this.snapshotGroup) this.snapshotAtMs = -Infinity;
    if (group === null) this.snapshotGroup = null;
  }

  /** Records a 401. */
  losesAll(): void {
    this.losesGroup(null);
    this.isSigned = false;
    this.ownsLogin = false;
    this.acceptedAtMs = -Infinity;
  }
}
