import { GatewayError } from '../../gateway/errors.ts';
import type { LogicalClock } from '../../lib/clock.ts';
import type { AccountProof, GroupProof, ProofLedger } from '../auth/proof.ts';
import type { Viewer } from '../auth/viewer.ts';
import type { Sessions } from './sessions.ts';

interface ProverParts {
  readonly ledger: ProofLedger;
  readonly sessions: Pick<Sessions, 'cached' | 'read' | 'isReading'>;
  readonly logicalClock: LogicalClock;
}

/** Gets proof of a token: a recent answer, else an answer to a call of its own document, else an answer of op 10. */
export class Prover {
  readonly #parts: ProverParts;

  constructor(parts: ProverParts) {
    this.#parts = parts;
  }

  async account(viewer: Viewer): Promise<AccountProof> {
    const { ledger, sessions, logicalClock } = this.#parts;
    const proof = () => ledger.account(viewer);
    const known = proof() ?? (await this.#byOwnProofs(viewer));
    if (known) return known;
    const read = async () => viewer.own?.plannedSession() ?? sessions.read(viewer);
    const proved = await bySession(read, proof);
    if (proved) return proved;
    // A 401 of another call has undone the proof meanwhile. One call sent after it decides.
    const after = logicalClock.next();
    const decided = await bySession(async () => sessions.read(viewer, { after }), proof);
    if (decided) return decided;
    throw new GatewayError('unauthenticated', 'getSession', 'refused while it was being proved');
  }

  /** Only op 10 names the group. A read of op 10 under way is shared; an answer from before is too old. */
  async group(viewer: Viewer): Promise<GroupProof | null> {
    const { ledger, sessions } = this.#parts;
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
   * The first answer to the document's own reads renews a lapsed proof. Reads of other requests are not waited for, since they
   * may hang; a snapshot is, since this request would else read it a second time.
   */
  async #byOwnProofs(viewer: Viewer): Promise<AccountProof | null> {
    const { ledger, sessions } = this.#parts;
    const { own } = viewer;
    const hasSession = !own || sessions.isReading(viewer) || own.plannedSession();
    if (hasSession || !ledger.accountHasLapsed(viewer)) return null;
    const proofs = own.plannedProofs().map(async (read) => {
      await read;
      return ledger.account(viewer) ?? Promise.reject(new Error('the answer came too late'));
    });
    return Promise.any(proofs).catch(() => null);
  }
}

/** Reads op 10 for the proof in its answer. An answer with broken lists proves the token as well. */
async function bySession<Proof>(read: () => Promise<unknown>, proof: () => Proof | null) {
  try {
    await read();
  } catch (error) {
    if (proof() === null) throw error;
  }
  return proof();
}
