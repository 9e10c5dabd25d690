import type { OperationName } from '../../gateway/operations.ts';
import type { Login } from '../../lib/account.ts';
import type { Clock } from '../../lib/clock.ts';
import type { KnownKeys } from '../../lib/limits/known-keys.ts';
import type { Viewer } from './viewer.ts';

/** The source of a refusal: an operation of the gateway, or the check of the signature here. */
export type Refuser = OperationName | 'verification';

const MINUTE_SECONDS = 60;
/** A power of two. Accounts that share a slot are sampled: the last of them to call stands for all. */
const SLOTS = 4_096;

export type TokenRefusals = ReturnType<typeof createTokenRefusals>;

/**
 * Counts the accounts whose tokens an operation accepts and refuses: refusals alone would not tell one client in a
 * loop from everybody's. Only a token that was accepted before the call, or that `login` has just returned, is
 * evidence; anybody can write another. The clock is monotonic; by `gatewayNow` the gateway judges a token's expiry.
 */
export function createTokenRefusals(
  clock: Clock,
  gatewayNow: () => number,
  known: Pick<KnownKeys, 'isNew'>,
) {
  /** For each slot of accounts the second of its last call, doubled, and one more where that was refused. */
  const slots: { [refuser in Refuser]?: Int32Array } = {};
  const slotsOf = (refuser: Refuser) => {
    slots[refuser] ??= new Int32Array(SLOTS);
    return slots[refuser];
  };
  /** From 1, for 0 is a slot that nobody has called from. */
  const second = () => Math.floor(clock.now() / 1000) + 1;

  return {
    get byteSize(): number {
      return Object.keys(slots).length * SLOTS * Int32Array.BYTES_PER_ELEMENT;
    },
    /** Called with each acceptance, and so without any allocation. */
    accepted(refuser: Refuser, login: Login): void {
      slotsOf(refuser)[slotOf(login)] = second() * 2;
    },
    /** `wasAccepted`: the gateway had accepted the token before the call. */
    refused(
      refuser: Refuser,
      { login, tokenHash, expiresAtMs }: Viewer,
      wasAccepted: boolean,
    ): void {
      const isKnown =
        (wasAccepted || known.isNew(tokenHash)) &&
        (expiresAtMs === null || expiresAtMs > gatewayNow());
      if (isKnown) slotsOf(refuser)[slotOf(login)] = second() * 2 + 1;
    },
    /** Accounts by the last call of each within the minute with a token that is beyond doubt. */
    accounts(refuser: Refuser) {
      const oldest = (second() - MINUTE_SECONDS) * 2;
      const accounts = { accepted: 0, refused: 0 };
      for (const state of slots[refuser] ?? []) {
        if (state === 0 || state < oldest) continue;
        if (state % 2 === 1) accounts.refused += 1;
        else accounts.accepted += 1;
      }
      return accounts;
    },
  };
}

function slotOf(login: Login): number {
  let hash = 0;
  for (let at = 0; at < login.length; at += 1) hash = Math.imul(hash, 31) + login.charCodeAt(at);
  return hash & (SLOTS - 1);
}
