import type { ReceiptSource } from '../../gateway/caller.ts';
import { isGatewayError } from '../../gateway/errors.ts';
import type { KnownKeys } from '../../lib/limits/known-keys.ts';
import type { GroupProof } from '../auth/proof.ts';
import { detached, groupKey, type Viewer } from '../auth/viewer.ts';
import { type CatalogCache, isPersonal } from './cache/catalog-cache.ts';
import type { CatalogsOptions } from './catalogs-options.ts';

/** Neither the token nor its account's snapshot names a group, so there is no catalog to ask for. */
export class NoGroupError extends Error {
  override readonly name = 'NoGroupError';

  constructor() {
    super('the account belongs to no group that the gateway names');
  }
}

type ComesFrom = (source: ReceiptSource | null) => void;

/** Gets proof that a token may read its group's catalog, by one gateway call of its own. */
export class GroupProver {
  readonly #options: CatalogsOptions;
  readonly #cache: CatalogCache;
  /** Tokens for which the gateway failed to give proof a moment ago. Few of their readers ask it again. */
  readonly #failed: Pick<KnownKeys, 'add' | 'hasHere'>;
  /** A single flight per token: its requests share the call that proves it. */
  readonly #calls = new Map<string, Promise<unknown>>();

  constructor(
    options: CatalogsOptions,
    cache: CatalogCache,
    failed: Pick<KnownKeys, 'add' | 'hasHere'>,
  ) {
    this.#options = options;
    this.#cache = cache;
    this.#failed = failed;
  }

  /** `comesFrom` is called with the source of the catalog where proving the token fetched it. */
  async prove(viewer: Viewer, comesFrom: ComesFrom): Promise<GroupProof> {
    const { ledger, prover } = this.#options;
    const cache = this.#cache;
    const group = ledger.groupOf(viewer);
    if (group === null) return this.#byCall(viewer, group);
    const key = groupKey(viewer, group);
    // The copy is served without a fetch, which may take long.
    if (cache.held(key)?.served) return this.#byCall(viewer, group);
    // The catalog has to be fetched anyway, and with this token the fetch is the proof as well.
    const leader = cache.leader(key);
    if (leader !== undefined && leader !== viewer.tokenHash) return this.#byCall(viewer, group);
    let error: unknown = null;
    await cache.fetch(viewer, group, 'proof').catch((failure) => {
      error = failure;
    });
    comesFrom(leader === undefined ? null : 'shared');
    const proof = ledger.group(viewer);
    const hasFailed = error !== null;
    // A snapshot has proved the token meanwhile. Where it is for another group than the claimed one, that
    // group's catalog opens; for the same group a second attempt would double the wait for the same failure.
    if (proof && !(hasFailed && proof.group === group)) return proof;
    if (!hasFailed) return this.#byCall(viewer, group);
    const isForbidden = isGatewayError(error, 'forbidden');
    // A moved account's token claims its old group until it expires. Else the first refusal is the answer.
    const elsewhere = isForbidden ? await prover.group(viewer).catch(() => null) : null;
    if (elsewhere && elsewhere.group !== group) return elsewhere;
    throw error;
  }

  async #byCall(viewer: Viewer, group: string | null): Promise<GroupProof> {
    const { ledger, prover } = this.#options;
    const recent = this.#failed.hasHere(viewer.tokenHash) ? ledger.keptGroup(viewer) : null;
    if (recent) return recent;
    let failure: unknown = null;
    try {
      const proof = await prover.group(viewer);
      if (proof) return proof;
    } catch (error) {
      // A refused token would be refused its catalog as well.
      if (group === null || isGatewayError(error, 'unauthenticated')) throw error;
      const former = this.#kept(viewer, error);
      if (former) return former;
      failure = error;
    }
    // The snapshot is forbidden or unreachable, or names no group, so the catalog itself is fetched with this
    // very token.
    const claimed = ledger.groupOf(viewer);
    if (claimed === null) throw new NoGroupError();
    try {
      await this.#byCatalog(viewer, claimed);
    } catch (error) {
      const former = isPersonal(failure) ? null : this.#kept(viewer, error);
      if (former) return former;
      // A failure about the token says more than one about the gateway.
      throw isPersonal(failure) ? failure : error;
    }
    const proof = ledger.group(viewer);
    if (proof) return proof;
    throw failure ?? new NoGroupError();
  }

  /** The former proof, which serves on for a while where the gateway fails. A refusal of the token ends it. */
  #kept(viewer: Viewer, error: unknown): GroupProof | null {
    const former = isPersonal(error) ? null : this.#options.ledger.keptGroup(viewer);
    if (former) this.#failed.add(viewer.tokenHash);
    return former;
  }

  /** The answer serves as proof only; shared fetches alone renew the shared copy. */
  async #byCatalog(viewer: Viewer, group: string): Promise<void> {
    const { gateway } = this.#options;
    const calls = this.#calls;
    const key = viewer.tokenHash;
    const call =
      calls.get(key) ??
      gateway.getAllTickers(detached(viewer), group, null).finally(() => calls.delete(key));
    calls.set(key, call);
    await call;
  }
}
