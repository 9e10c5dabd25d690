import type { OperationName } from '../gateway/operations.ts';
import type { CatalogChange, CatalogHeaders } from './catalog.ts';
import type { Fault, Faults } from './faults.ts';
import type { LedgerEntry } from './ledger.ts';
import type { CallCounts, Observations, RecordedRequest } from './observations.ts';
import type { Tokens } from './tokens.ts';
import { findUserByEmail, findUserByLogin } from './users.ts';
import type { World } from './world.ts';

export interface TokenOptionsInput {
  readonly email?: string | undefined;
  readonly login?: number | undefined;
  /** The group claimed in the token; by default the user's own. */
  readonly group?: string | undefined;
  /** A negative value mints a token that has expired already. */
  readonly expiresInSeconds?: number | undefined;
  readonly signature?: 'valid' | 'forged' | undefined;
}

/** The control API of the sandbox for tests and operators; `/sandbox/…` is the same over HTTP. */
export interface SandboxControl {
  fail(fault: Fault): void;
  faults(): readonly Fault[];
  clearFaults(): void;
  /** Counts the calls of an operation, or of all of them. */
  calls(operation?: OperationName, login?: number): number;
  callCounts(): CallCounts;
  /** Resets counts and recorded requests. */
  clearCalls(): void;
  /** Returns the last requests, oldest first. */
  requests(operation?: OperationName): readonly RecordedRequest[];
  /** Returns every applied order, oldest first. */
  orders(): readonly LedgerEntry[];
  token(options: TokenOptionsInput): string;
  revoke(which: { readonly token: string } | { readonly login: number }): void;
  tick(times?: number): void;
  /** Sets a price and synchronously executes what it triggers. Returns false for an unknown instrument. */
  putPrice(symbol: string, price: number): boolean;
  changeCatalog(change: CatalogChange & CatalogHeaders): void;
  /** Restores accounts, prices and catalogs from the seed, and clears faults, calls and revocations. */
  reset(): void;
}

export interface ControlParts {
  readonly world: () => World;
  readonly renew: () => void;
  readonly tokens: Tokens;
  readonly faults: Faults;
  readonly observations: Observations;
}

export function createControl(parts: ControlParts): SandboxControl {
  const { world, renew, tokens, faults, observations } = parts;
  return {
    fail: (fault) => faults.add(fault),
    faults: () => faults.list(),
    clearFaults: () => faults.clear(),
    calls: (operation, login) => observations.count(operation, login),
    callCounts: () => observations.counts(),
    clearCalls: () => observations.clear(),
    requests: (operation) => observations.requests(operation),
    orders: () => world().ledger.entries(),
    token({ email, login, group, expiresInSeconds, signature }) {
      const user = email === undefined ? findUserByLogin(login ?? 0) : findUserByEmail(email);
      if (user === null) throw new Error(`The sandbox has no user ${email ?? login}`);
      return tokens.mint({
        subject: user.id,
        login: login ?? user.login,
        group: group ?? user.group,
        expiresInSeconds,
        signature,
      });
    },
    revoke(which) {
      if ('token' in which) tokens.revoke(which.token);
      else tokens.revokeLogin(which.login);
    },
    tick(times = 1) {
      for (let i = 0; i < times; i += 1) world().tick();
    },
    putPrice: (symbol, price) => world().putPrice(symbol, price),
    changeCatalog(change) {
      const { catalogs } = world();
      const { add, remove, broken, empty } = change;
      const differs = [change.change, add, remove, broken, empty].some((it) => it !== undefined);
      if (differs) catalogs.change(change);
      catalogs.setHeaders(change);
    },
    reset() {
      renew();
      faults.clear();
      observations.clear();
      tokens.reset();
    },
  };
}
