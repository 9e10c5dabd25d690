import { addressKey } from '../../lib/address-key.ts';
import { Slots } from '../../lib/slots.ts';

interface SocketLimitsOptions {
  readonly perAccount: number;
  /** The limit for sockets whose account is not proved. */
  readonly perAddress: number;
}

/** Limits the open sockets of a client. */
export class SocketLimits {
  readonly #options: SocketLimitsOptions;
  readonly #slots = new Slots();

  constructor(options: SocketLimitsOptions) {
    this.#options = options;
  }

  /** Null where the address has too many sockets without a proved account. */
  enter(address: string): SocketPass | null {
    const leave = this.#slots.take(`address ${addressKey(address)}`, this.#options.perAddress);
    if (leave === null) return null;
    const claim = (account: string) => this.#slots.take(account, this.#options.perAccount);
    return new SocketPass(leave, claim);
  }
}

/** Counts one socket for its address, and for its account as soon as that is proved. */
export class SocketPass {
  #leave: () => void;
  readonly #claim: (account: string) => (() => void) | null;
  #isClaimed = false;

  constructor(leave: () => void, claim: (account: string) => (() => void) | null) {
    this.#leave = leave;
    this.#claim = claim;
  }

  get isClaimed(): boolean {
    return this.#isClaimed;
  }

  /** False where the account has too many. */
  claim(account: string): boolean {
    if (this.#isClaimed) return true;
    const leave = this.#claim(account);
    if (leave === null) return false;
    this.#leave();
    this.#leave = leave;
    this.#isClaimed = true;
    return true;
  }

  leave(): void {
    this.#leave();
  }
}
