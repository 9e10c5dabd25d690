import { GatewayError } from '../../gateway/errors.ts';
import type { LogicalClock } from '../../lib/clock.ts';
import type { AccountProof, GroupProof, ProofLedger } from '../auth/proof.ts';
import type { Viewer } from '../auth/viewer.ts';
import type { Sessions } from './sessions.ts';

export interface ProverParts {
  readonly ledger: ProofLedger;
  readonly sessions: Pick<Sessions, 'cached' | 'read' | 'isReading'>;
  readonly logicalClock: LogicalClock;
}

export type Prover = ReturnType<typeof createProver>;

/** Gets proof of a token: from an answer that is recent, else from a call that its document makes, else from one of op 10. */
export function createProver({ ledger, sessions, logicalClock }: ProverParts) {
  async function account(viewer: Viewer): Promise<AccountProof> {
    const proof = () => ledger.account(viewer);
    const known = proof() ?? (await byOwnProofs(viewer));
    if (known) return known;
    const read = async () => viewer.own?.plannedSession() ?? sessions.read(viewer);
    const proved = await bySession(read, proof);
    if (proved) return proved;
    // A 401 meanwhile has undone the proof: one call sent after it decides.
    const after = logicalClock.next();
    const decided = await bySession(async () => sessions.read(viewer, { after }), proof);
    if (decided) return decided;
    throw new GatewayError('unauthenticated', 'getSession', 'refused while it was being proved');
  }

  /** Only op 10 names the group: a read of it that is under way is shared, one from before is too old. */
  async function group(viewer: Viewer): Promise<GroupProof | null> {
    const proof = () => ledger.group(viewer);
    const known = proof();
    if (known) return known;
    const before = sessions.cached(viewer);
    const read = async () => {
      const own = (await viewer.own?.plannedSession()) ?? before;
      return own === before ? sessions.read(viewer, { maxAgeMs: 0 }) : own;
    };
    return bySession(read, proof);
  }

  /**
   * A proof that has lapsed is renewed by whichever of the document's own reads is answered first. Reads of other requests
   * are not waited for, because they may hang; a snapshot is, because waiting for it elsewhere would read it twice.
   */
  async function byOwnProofs(viewer: Viewer): Promise<AccountProof | null> {
    const { own } = viewer;
    const hasSession = !own || sessions.isReading(viewer) || own.plannedSession();
    if (hasSession || !ledger.accountHasLapsed(viewer)) return null;
    const proofs = own.plannedProofs().map(async (read) => {
      await read;
      return ledger.account(viewer) ?? Promise.reject(new Error('the answer came too late'));
    });
    return Promise.any(proofs).catch(() => null);
  }
  return { account, group };
}

/** Reads op 10 for what its answer proves, which it does where its lists are broken as well. */
async function bySession<Proof>(read: () => Promise<unknown>, proof: () => Proof | null) {
  try {
    await read();
  } catch (error) {
    if (proof() === null) throw error;
  }
  return proof();
}
