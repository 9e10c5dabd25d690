import type { Caller } from '../../gateway/caller.ts';
import { addressKey } from '../../lib/address-key.ts';
import { tokenHash } from '../../lib/token-hash.ts';
import type { ProofLedger } from './proof.ts';

/** The client that a limit counts against. */
export interface ClientKey {
  readonly kind: 'account' | 'claim at address' | 'address';
  readonly key: string;
  /** The login of a proved account. */
  readonly login?: string;
}

type Ledger = Pick<ProofLedger, 'provedLogin' | 'acceptedClaim'>;

/**
 * A proved account, else the address: a token that merely names an account must not be able to use up
 * what its owner may do. A token that the gateway accepts, but whose login nothing has proved, as when
 * it reads nothing but `customerId`, counts by the login that it claims at its address: its neighbours
 * at the address and it do not use up each other's allowance. The claim opens nothing; a false one
 * takes from no client elsewhere. All tokens of an account share the count, so that signing in again
 * gives no new one, and a forged token has none, since the gateway has to accept it first.
 */
export class ClientKeys {
  readonly #ledger: Ledger;

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  of({ token, hashed, client }: Caller): ClientKey {
    const hash = token === null ? null : tokenHash(token, hashed);
    const login = hash === null ? null : this.#ledger.provedLogin(hash);
    if (login !== null) return { kind: 'account', key: `account ${login}`, login };
    const address = addressKey(client?.address ?? '');
    const claim = hash === null ? null : this.#ledger.acceptedClaim(hash);
    if (claim !== null) return { kind: 'claim at address', key: `claim ${claim} at ${address}` };
    return { kind: 'address', key: `address ${address}` };
  }
}
