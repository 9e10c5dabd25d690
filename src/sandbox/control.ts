import type { OperationName } from '../gateway/operations.ts';
import type { CatalogChange } from './catalog.ts';
import type { Fault, Faults } from './faults.ts';
import type { LedgerEntry } from './ledger.ts';
import type { CallCounts, Observations, RecordedRequest } from './observations.ts';
import type { Tokens } from './tokens.ts';
import { findUserByEmail, findUserByLogin, OFFERED_USERS } from './users.ts';
import type { World } from './world.ts';

interface TokenInput {
  readonly email?: string | undefined;
  readonly login?: number | undefined;
  /** The group claimed in the token; by default the user's own. */
  readonly group?: string | undefined;
  /** A negative value mints a token that has expired already. */
  readonly expiresInSeconds?: number | undefined;
  readonly signature?: 'valid' | 'forged' | undefined;
}

interface ControlParts {
  readonly newWorld: () => World;
  readonly tokens: Tokens;
  readonly faults: Faults;
  readonly observations: Observations;
}

/** The controls of the sandbox for tests. Under `/sandbox/…`, users can reach some of them over HTTP. */
export class SandboxControl {
  readonly users = OFFERED_USERS;
  readonly #parts: ControlParts;
  #world: World;

  constructor(parts: ControlParts) {
    this.#parts = parts;
    this.#world = parts.newWorld();
  }

  get world(): World {
    return this.#world;
  }

  fail(fault: Fault): void {
    this.#parts.faults.add(fault);
  }

  clearFaults(): void {
    this.#parts.faults.clear();
  }

  /** Counts the calls of an operation, or of all operations. */
  calls(operation?: OperationName, login?: number): number {
    return this.#parts.observations.count(operation, login);
  }

  callCounts(): CallCounts {
    return this.#parts.observations.counts();
  }

  /** Resets counts and recorded requests. */
  clearCalls(): void {
    this.#parts.observations.clear();
  }

  /** Returns the last requests, oldest first: those that began an operation, or all. */
  requests(operation?: OperationName): readonly RecordedRequest[] {
    return this.#parts.observations.requests(operation);
  }

  /** Returns every applied order, oldest first. */
  orders(): readonly LedgerEntry[] {
    return this.#world.ledger.entries();
  }

  token({ email, login, group, expiresInSeconds, signature }: TokenInput): string {
    const user = email === undefined ? findUserByLogin(login ?? 0) : findUserByEmail(email);
    if (user === null) throw new Error(`The sandbox has no user ${email ?? login}`);
    return this.#parts.tokens.mint({
      subject: user.id,
      login: login ?? user.login,
      group: group ?? user.group,
      expiresInSeconds,
      signature,
    });
  }

  /** Revokes one token, or all tokens of a login. */
  revoke(target: { readonly token: string } | { readonly login: number }): void {
    if ('token' in target) this.#parts.tokens.revoke(target.token);
    else this.#parts.tokens.revokeLogin(target.login);
  }

  tick(times = 1): void {
    for (let i = 0; i < times; i += 1) this.#world.tick();
  }

  /** Sets a price, and synchronously executes the orders that it triggers. Returns false for an unknown instrument. */
  putPrice(symbol: string, price: number): boolean {
    return this.#world.putPrice(symbol, price);
  }

  changeCatalog(change: CatalogChange): void {
    this.#world.catalogs.change(change);
  }

  /** Restores accounts, prices and catalogs from the seed, and clears faults, calls and revocations. */
  reset(): void {
    this.#world = this.#parts.newWorld();
    this.#parts.faults.clear();
    this.#parts.observations.clear();
    this.#parts.tokens.reset();
  }
}
