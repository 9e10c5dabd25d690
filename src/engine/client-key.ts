import type { ProofLedger } from '../domain/auth/proof.ts';
import type { Caller } from '../gateway/caller.ts';
import { addressKey } from '../lib/address-key.ts';
import { tokenHash } from '../lib/token-hash.ts';

/** Whom a limit counts against. */
export interface ClientKey {
  readonly kind: 'account' | 'address';
  readonly key: string;
  /** The proved account's. */
  readonly login?: string;
}

/**
 * A proved account, else the address: a token that merely names an account must not be able to use up
 * what its owner may do.
 */
export class ClientKeys {
  readonly #ledger: Pick<ProofLedger, 'provedLogin'>;

  constructor(ledger: Pick<ProofLedger, 'provedLogin'>) {
    this.#ledger = ledger;
  }

  of({ token, client }: Caller): ClientKey {
    const login = token === null ? null : this.#ledger.provedLogin(tokenHash(token));
    if (login !== null) return { kind: 'account', key: `account ${login}`, login };
    return { kind: 'address', key: `address ${addressKey(client?.address ?? '')}` };
  }
}
