import type { Clock } from '../../../lib/clock.ts';
import type { ReceiptSource } from '../../gateway/caller.ts';
import { isGatewayError } from '../../gateway/errors.ts';
import type { Prover } from '../account/prover.ts';
import type { GroupProof, ProofLedger } from '../auth/proof.ts';
import type { Viewer } from '../auth/viewer.ts';
import type { ViewerGateway } from '../auth/viewer-gateway.ts';
import { type CatalogFetches, isPersonal } from './cache/catalog-fetches.ts';

export interface GroupProverOptions {
  readonly gateway: Pick<ViewerGateway, 'getAllTickers'>;
  readonly ledger: ProofLedger;
  readonly prover: Pick<Prover, 'group'>;
  readonly clock: Clock;
  readonly fetches: CatalogFetches;
}

/** Neither the token nor its account's snapshot names a group, so there is no catalog to ask for. */
export class NoGroupError extends Error {
  override readonly name = 'NoGroupError';

  constructor() {
    super('the account belongs to no group that the gateway names');
  }
}

/** Gets proof for a token that it may read its group's catalog, at one gateway call of its own. */
export class GroupProver {
  readonly #options: GroupProverOptions;
  /** A single flight per token: its requests share the call that proves it. */
  readonly #calls = new Map<string, Promise<void>>();

  constructor(options: GroupProverOptions) {
    this.#options = options;
  }

  /** `fetched` is called with the source of the catalog where proving the token fetched it. */
  async prove(
    viewer: Viewer,
    fetched: (source: ReceiptSource | null) => void,
  ): Promise<GroupProof> {
    const { ledger, fetches, clock } = this.#options;
    const group = ledger.groupOf(viewer);
    const serves = () =>
      group !== null && fetches.catalog(viewer.groupKey(group))?.servesAt(clock.now());
    if (group === null || serves()) return this.#byCall(viewer, group);
    // The catalog has to be fetched anyway, and with this token the fetch is the proof as well.
    const inFlight = fetches.under(viewer.groupKey(group));
    if (inFlight && inFlight.leader !== viewer.tokenHash) return this.#byCall(viewer, group);
    const result = await (inFlight ?? fetches.launch(viewer, group, 'proof')).result;
    fetched(inFlight ? 'shared' : null);
    const proof = ledger.group(viewer);
    const failed = 'error' in result && (result.isPersonal || !serves());
    // A snapshot has proved the token meanwhile. Where it is for another group than the claimed one, that
    // group's catalog opens; for the same group a second attempt would double the wait for the same failure.
    if (proof && !(failed && proof.group === group)) return proof;
    if (!failed) return this.#byCall(viewer, group);
    const elsewhere = isGatewayError(result.error, 'forbidden')
      ? await this.#bySnapshot(viewer)
      : null;
    if (elsewhere && elsewhere.group !== group) return elsewhere;
    throw result.error;
  }

  /** The token of an account that was moved to another group claims the old one until it expires. */
  async #bySnapshot(viewer: Viewer): Promise<GroupProof | null> {
    try {
      return await this.#options.prover.group(viewer);
    } catch {
      // The first refusal is the answer.
      return null;
    }
  }

  async #byCall(viewer: Viewer, group: string | null): Promise<GroupProof> {
    const { ledger, prover } = this.#options;
    const recent = ledger.hasGroupFailed(viewer) ? ledger.keptGroup(viewer) : null;
    if (recent) return recent;
    let failure: unknown = null;
    try {
      const proof = await prover.group(viewer);
      if (proof) return proof;
    } catch (error) {
      if (group === null) throw error;
      const kept = this.#kept(viewer, error);
      if (kept) return kept;
      failure = error;
    }
    // The snapshot is forbidden or unreachable, or names no group, so the catalog itself is fetched with this
    // very token. After a 401 no such call is made: it would be refused as well.
    const claimed = ledger.groupOf(viewer);
    if (claimed === null) throw new NoGroupError();
    try {
      await this.#byCatalog(viewer, claimed);
    } catch (error) {
      const kept = isPersonal(failure) ? null : this.#kept(viewer, error);
      if (kept) return kept;
      // A failure about the token says more than one about the gateway.
      throw isPersonal(failure) ? failure : error;
    }
    const proof = ledger.group(viewer);
    if (proof) return proof;
    throw failure ?? new NoGroupError();
  }

  /** A refusal of the token has ended its group; where the gateway fails otherwise the former one serves on for a while. */
  #kept(viewer: Viewer, error: unknown): GroupProof | null {
    const { ledger } = this.#options;
    const kept = isPersonal(error) ? null : ledger.keptGroup(viewer);
    if (kept) ledger.groupFailed(viewer);
    return kept;
  }

  /** The answer serves as proof only; shared fetches alone renew the shared copy. */
  async #byCatalog(viewer: Viewer, group: string): Promise<void> {
    const key = viewer.tokenHash;
    let call = this.#calls.get(key);
    if (!call) {
      call = this.#options.gateway
        .getAllTickers(viewer.detached(), group, null)
        .then(() => {})
        .finally(() => this.#calls.delete(key));
      this.#calls.set(key, call);
    }
    await call;
  }
}
