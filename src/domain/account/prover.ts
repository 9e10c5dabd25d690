import { setImmediate } from 'node:timers/promises';
import type { LogicalClock } from '../../../lib/clock.ts';
import { GatewayError } from '../../gateway/errors.ts';
import type { AccountProof, GroupProof, ProofLedger } from '../auth/proof.ts';
import type { Viewer } from '../auth/viewer.ts';
import type { SessionDemand, Sessions } from './sessions.ts';

/**
 * Gets proof of a token: synchronously where the gateway has accepted it recently, else from a call that
 * its request makes anyway, else from one call of op 10.
 */
export class Prover {
  readonly #ledger: ProofLedger;
  readonly #sessions: Sessions;
  readonly #logicalClock: LogicalClock;

  constructor(ledger: ProofLedger, sessions: Sessions, logicalClock: LogicalClock) {
    this.#ledger = ledger;
    this.#sessions = sessions;
    this.#logicalClock = logicalClock;
  }

  async account(viewer: Viewer): Promise<AccountProof> {
    const known = this.#ledger.account(viewer);
    if (known) return known;
    await this.#byOwnReads(viewer);
    const proved = this.#ledger.account(viewer);
    if (proved) return proved;
    const proof = () => this.#ledger.account(viewer);
    return (await this.#bySession(viewer, {}, proof)) ?? (await this.#again(viewer));
  }

  /** Only op 10 names the group: a read of it that is under way is shared, one from before is too old. */
  async group(viewer: Viewer): Promise<GroupProof | null> {
    const known = this.#ledger.group(viewer);
    if (known) return known;
    // After this turn of the event loop the document's own session has begun its read.
    await setImmediate();
    const proved = this.#ledger.group(viewer);
    if (proved) return proved;
    return this.#bySession(viewer, { maxAgeMs: 0 }, () => this.#ledger.group(viewer));
  }

  /** Reads op 10 for what its answer proves, which it does where its lists are broken as well. */
  async #bySession<Proof>(viewer: Viewer, demand: SessionDemand, proof: () => Proof | null) {
    try {
      await this.#sessions.read(viewer, demand);
    } catch (error) {
      if (proof() === null) throw error;
    }
    return proof();
  }

  /**
   * Waits for the reads of the viewer's own request, which its answer waits for as well, until one of them
   * proves the token. Reads of other requests are not awaited, because they may hang.
   */
  async #byOwnReads(viewer: Viewer): Promise<void> {
    // After this turn of the event loop the other fields of the document have begun their reads.
    await setImmediate();
    const { provingReads } = viewer;
    // An in-flight snapshot is shared: waiting for it here would, where it fails, read it again.
    if (!provingReads || this.#sessions.isReading(viewer)) return;
    while (provingReads.size > 0 && this.#ledger.accountHasLapsed(viewer)) {
      await Promise.race(provingReads);
    }
  }

  /** A 401 meanwhile has undone the proof: one call sent after it decides. */
  async #again(viewer: Viewer): Promise<AccountProof> {
    const demand = { after: this.#logicalClock.next() };
    const proof = await this.#bySession(viewer, demand, () => this.#ledger.account(viewer));
    if (proof) return proof;
    throw new GatewayError('unauthenticated', 'getSession', 'refused while it was being proved');
  }
}
