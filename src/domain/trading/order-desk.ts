import { GatewayError } from '../../gateway/errors.ts';
import type { Prover } from '../account/prover.ts';
import type { AccountProof } from '../auth/proof.ts';
import type { Viewer } from '../auth/viewer.ts';
import type { Orders, Placed } from './orders.ts';
import type { Ticket } from './ticket.ts';

/** Places a viewer's orders in the account's records, which requires proof: a claim is not enough. */
export class OrderDesk {
  readonly #orders: Orders;
  readonly #prover: Prover;
  readonly #onOutcome: (outcome: string) => void;

  constructor(orders: Orders, prover: Prover, onOutcome: (outcome: string) => void) {
    this.#onOutcome = onOutcome;
    this.#orders = orders;
    this.#prover = prover;
  }

  async place(viewer: Viewer, ticket: Ticket): Promise<Placed> {
    const proof = await this.#proofBefore(viewer, ticket.operation);
    const placed = await this.#orders.place(viewer, proof, ticket);
    if (!placed.replayed) this.#onOutcome(placed.outcome.outcome);
    return placed;
  }

  async placed(viewer: Viewer, idempotencyKey: string): Promise<Placed | null> {
    return this.#orders.placed(await this.#prover.account(viewer), idempotencyKey);
  }

  /** The error always says that the order was not sent, whatever the reason for the missing proof. */
  async #proofBefore(viewer: Viewer, operation: Ticket['operation']): Promise<AccountProof> {
    try {
      return await this.#prover.account(viewer);
    } catch (error) {
      if (!(error instanceof GatewayError) || isAboutSender(error)) throw error;
      throw new GatewayError('unavailable', operation, 'the token could not be proved', {
        cause: error,
      });
    }
  }
}

function isAboutSender({ kind }: GatewayError): boolean {
  return kind === 'unauthenticated' || kind === 'forbidden' || kind === 'rate-limited';
}
