import { addressKey } from '../../lib/address-key.ts';
import { type Slot, Slots } from '../../lib/slots.ts';

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
    const { perAccount, perAddress } = this.#options;
    const slot = this.#slots.take(`address ${addressKey(address)}`, perAddress);
    return slot && new SocketPass(slot, perAccount);
  }
}

/** Counts one socket for its address, and for its account as soon as that is proved. */
export class SocketPass {
  readonly #slot: Slot;
  readonly #perAccount: number;
  #isClaimed = false;

  constructor(slot: Slot, perAccount: number) {
    this.#slot = slot;
    this.#perAccount = perAccount;
  }

  get isClaimed(): boolean {
    return this.#isClaimed;
  }

  /** False where the account has too many. */
  claim(account: string): boolean {
    this.#isClaimed ||= this.#slot.moveTo(account, this.#perAccount);
    return this.#isClaimed;
  }

  leave(): void {
    this.#slot.release();
  }
}
