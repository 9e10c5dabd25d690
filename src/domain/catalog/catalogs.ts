import type { Clock } from '../../lib/clock.ts';
import type { GroupProof } from '../auth/proof.ts';
import type { Viewer } from '../auth/viewer.ts';
import { CatalogCache, isPersonal } from './cache/catalog-cache.ts';
import type { CatalogCopy, GroupCatalog } from './cache/group-catalog.ts';
import type { CatalogsOptions } from './catalogs-options.ts';

export type CatalogView = Readonly<ReturnType<typeof viewOf>>;

/** The catalog of each viewer's group, shared between the readers whose group is proved. */
export class Catalogs {
  readonly #options: CatalogsOptions;
  readonly #cache: CatalogCache;

  constructor(options: CatalogsOptions) {
    this.#options = options;
    this.#cache = new CatalogCache(options);
  }

  /** Returns synchronously if the group is proved and a copy is cached. */
  read(viewer: Viewer): CatalogView | Promise<CatalogView> {
    const proof = this.#options.ledger.group(viewer);
    const view = proof && this.#inMemory(viewer, proof);
    if (view === null) return this.#waitFor(viewer);
    viewer.receipt?.({ operation: 'getAllTickers', ms: 0, source: 'cache' });
    return view;
  }

  /** Instruments of the largest cached catalog, to estimate the cost of a list before any proof. */
  get heldSize(): number {
    return Math.max(0, ...this.#cache.all.map(({ copy }) => copy?.version.size ?? 0));
  }

  /** The state of each group whose catalog is cached, for operators. */
  get figures() {
    const nowMs = this.#options.clock.now();
    return this.#cache.all.flatMap((catalog) => figuresOf(catalog, nowMs) ?? []);
  }

  /** The estimated size of all cached catalogs. */
  get byteSize(): number {
    return this.#cache.byteSize;
  }

  /** Makes the next readers wait for a new catalog. If the gateway fails, the old copies are served. */
  expire(): void {
    this.#cache.expire();
  }

  async #waitFor(viewer: Viewer): Promise<CatalogView> {
    const { clock, ledger, prover } = this.#options;
    const sinceMs = clock.now();
    for (;;) {
      const proof = ledger.group(viewer) ?? (await prover.group(viewer));
      const view = this.#inMemory(viewer, proof);
      if (view !== null) {
        const ms = clock.now() - sinceMs;
        viewer.receipt?.({ operation: 'getAllTickers', ms, source: 'cache' });
        return view;
      }
      const fetched = await this.#fetched(viewer, proof);
      if (fetched !== null) return fetched;
    }
  }

  /** Null if another reader's token was refused, or this reader's proof has ended. Then the read starts again. */
  async #fetched(viewer: Viewer, { group, key }: GroupProof): Promise<CatalogView | null> {
    const { clock, ledger } = this.#options;
    const leader = this.#cache.leader(key);
    const sinceMs = clock.now();
    try {
      const catalog = await this.#cache.fetch(viewer, group);
      const copy = catalog.served ?? catalog.copy;
      if (!copy || ledger.group(viewer)?.group !== group) return null;
      const ms = clock.now() - sinceMs;
      if (leader !== undefined)
        viewer.receipt?.({ operation: 'getAllTickers', ms, source: 'shared' });
      return viewOf(catalog, copy, clock);
    } catch (error) {
      const isOfAnother = leader !== undefined && leader !== viewer.tokenHash && isPersonal(error);
      if (isOfAnother) return null;
      throw error;
    }
  }

  #inMemory(viewer: Viewer, { key }: GroupProof): CatalogView | null {
    const catalog = this.#cache.held(key);
    const copy = catalog?.served;
    if (!catalog || !copy) return null;
    this.#cache.refresh(viewer, catalog);
    return viewOf(catalog, copy, this.#options.clock);
  }
}

/** A group's catalog as one reader got it. A refresh does not change it. */
function viewOf(catalog: GroupCatalog, copy: CatalogCopy, clock: Clock) {
  const nowMs = clock.now();
  const { version, skipped } = copy;
  const stale = nowMs >= copy.staleFromMs;
  return {
    group: catalog.group,
    key: catalog.key,
    version,
    skipped,
    stale,
    ageSeconds: wholeSeconds(copy.initialAgeMs + nowMs - copy.sentAtMs),
    /** TTL of an answer made from this view; 0 if it is stale. */
    freshSeconds: stale ? 0 : wholeSeconds(copy.expiresMs - nowMs),
    fetchedAt: new Date(clock.dateOf(copy.sentAtMs)),
    expiresAt: new Date(clock.dateOf(copy.expiresMs)),
    /** The difference from a version that the client has. */
    changes: (since: string) => catalog.history.changes(since, version),
  };
}

function wholeSeconds(ms: number): number {
  return Math.max(0, Math.floor(ms / 1000));
}

function figuresOf({ key, copy, offeredSize }: GroupCatalog, nowMs: number) {
  if (copy === null) return null;
  return {
    group: key,
    size: copy.version.size,
    /** The size of the gateway's last answer. An answer with far fewer instruments is not served. */
    offered: offeredSize,
    skipped: copy.skipped,
    /** The time until the copy is no longer served. */
    leftSeconds: Math.max(0, copy.servesUntilMs - nowMs) / 1000,
    /** Whether it is served past its time, because the gateway fails or serves old copies itself. */
    isStale: copy.staleFromMs <= nowMs && nowMs < copy.servesUntilMs,
  };
}
