import { GatewayError } from '../../gateway/gateway-error.ts';
import type { LogicalClock } from '../../lib/clock.ts';
import type { AccountProof, FreshAccountProof, GroupProof, ProofLedger } from '../auth/proof.ts';
import { NoGroupError } from '../auth/token-errors.ts';
import type { Viewer } from '../auth/viewer.ts';
import type { ViewerGateway } from '../auth/viewer-gateway.ts';
import type { AccountReads } from './account-reads.ts';
import type { Sessions } from './sessions.ts';

interface ProverParts {
  readonly ledger: ProofLedger;
  readonly sessions: Pick<Sessions, 'cached' | 'read' | 'isReading'>;
  readonly gateway: Pick<ViewerGateway, 'getAllTickers'>;
  readonly accountReads: AccountReads;
  readonly logicalClock: Pick<LogicalClock, 'next'>;
}

/** Gets proof of a token: from a recent answer, otherwise from a call of its own document, otherwise from op 10. */
export class Prover {
  readonly #parts: ProverParts;

  constructor(parts: ProverParts) {
    this.#parts = parts;
  }

  async account(viewer: Viewer): Promise<AccountProof> {
    const { ledger } = this.#parts;
    const known = ledger.account(viewer) ?? (await this.#byOwnReads(viewer));
    if (known) return known;
    const failure = await this.#readSession(viewer);
    // An answer with broken lists also proves the token.
    const proof = ledger.account(viewer);
    if (proof) return proof;
    throw failure ?? refusedMeanwhile();
  }

  /** Calls the gateway, whose answer measures its clock. A failure to reach it is not reported. */
  async contact(viewer: Viewer): Promise<void> {
    await this.#readSession(viewer);
  }

  /** Proves the account by a call of op 10 that joins none under way, even if its proof is recent or its key is known. */
  async accountNow(viewer: Viewer): Promise<FreshAccountProof> {
    const { ledger, sessions, logicalClock } = this.#parts;
    const demand = { maxAgeMs: 0, after: logicalClock.next() };
    const proof = ledger.freshAccount(viewer, await sessions.read(viewer, demand));
    if (proof === null) throw refusedMeanwhile();
    return proof;
  }

  /** Op 10 names the group. If it does not, op 1 has to confirm the claimed group to this token. */
  async group(viewer: Viewer): Promise<GroupProof> {
    const { ledger, gateway, accountReads } = this.#parts;
    const known = ledger.group(viewer);
    if (known) return known;
    const failure = await this.#readSession(viewer);
    const named = ledger.group(viewer);
    if (named) return named;
    if (!(await this.#isAccepted(viewer))) throw failure ?? refusedMeanwhile();
    const claimed = ledger.groupOf(viewer);
    if (claimed === null) throw failure ?? new NoGroupError();
    // The answer serves only as proof; it does not become the group's shared copy.
    const send = (caller: Viewer) => gateway.getAllTickers(caller, claimed, null);
    await accountReads.read(viewer, 'getAllTickers', send, { request: claimed });
    const confirmed = ledger.group(viewer);
    if (confirmed) return confirmed;
    throw failure ?? refusedMeanwhile();
  }

  /**
   * Reads op 10 by the document's own call, or shares one under way. An older snapshot, or one whose proof has ended, is
   * not enough. Returns the failure, or null.
   */
  async #readSession(viewer: Viewer): Promise<unknown> {
    const { ledger, sessions } = this.#parts;
    try {
      const cached = sessions.cached(viewer);
      const latest = (await viewer.own?.plannedSession()) ?? cached;
      const isNew = latest !== cached;
      if (!isNew || !ledger.isAccepted(viewer)) await sessions.read(viewer, { maxAgeMs: 0 });
      return null;
    } catch (error) {
      return error;
    }
  }

  /** Whether another call proves the token although op 10 has failed. */
  async #isAccepted(viewer: Viewer): Promise<boolean> {
    const { ledger } = this.#parts;
    if (!ledger.isAccepted(viewer)) await firstOf(viewer.own?.plannedProofs() ?? []);
    return ledger.isAccepted(viewer);
  }

  /**
   * Renews a lapsed proof with the first answer to the document's own reads. Returns null if a snapshot is planned or under
   * way: the caller waits for that snapshot. Reads of other requests are not awaited, because they may hang.
   */
  async #byOwnReads(viewer: Viewer): Promise<AccountProof | null> {
    const { ledger, sessions } = this.#parts;
    const { own } = viewer;
    if (!own) return null;
    const isSnapshotComing = sessions.isReading(viewer) || own.plannedSession() !== null;
    if (isSnapshotComing || !ledger.accountHasLapsed(viewer)) return null;
    await firstOf(own.plannedProofs());
    return ledger.account(viewer);
  }
}

async function firstOf(reads: readonly Promise<unknown>[]): Promise<void> {
  await Promise.any(reads).catch(() => {});
}

/** The error if a 401 of another call has ended the proof before the proof was used. */
function refusedMeanwhile(): GatewayError {
  return new GatewayError('unauthenticated', 'getSession', 'refused while it was being proved');
}
