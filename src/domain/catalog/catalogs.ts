import type { ReceiptSource } from '../../gateway/caller.ts';
import type { GroupProof } from '../auth/proof.ts';
import type { Viewer } from '../auth/viewer.ts';
import { createCatalogFetches } from './cache/catalog-fetches.ts';
import type { GroupCatalog } from './cache/group-catalog.ts';
import { CatalogView } from './catalog-view.ts';
import type { CatalogsOptions } from './catalogs-options.ts';
import { createGroupProver } from './group-prover.ts';

/** The read's source and start, for the receipt; null where the read's own call appears on it already. */
interface Wait {
  readonly viewer: Viewer;
  readonly sinceMs: number;
  source: ReceiptSource | null;
}

/** The catalog of each viewer's group, shared between the readers that the gateway has accepted. */
export class Catalogs {
  readonly #options: CatalogsOptions;
  readonly #fetches;
  readonly #prove;

  constructor(options: CatalogsOptions) {
    this.#options = options;
    this.#fetches = createCatalogFetches(options);
    this.#prove = createGroupProver(this.#fetches, options);
  }

  /** Returns synchronously where the token is proved and a copy is cached. */
  read(viewer: Viewer): CatalogView | Promise<CatalogView> {
    const { ledger, clock } = this.#options;
    const wait: Wait = { viewer, sinceMs: clock.now(), source: 'cache' };
    const proof = ledger.group(viewer);
    const view = proof && this.#inMemory(proof, wait);
    this.#options.onRead?.(view === null ? 'wait' : 'memory');
    return view ?? this.#waitFor(wait);
  }

  /** Instruments of the largest cached catalog, to estimate the cost of a list before any proof. */
  get heldSize(): number {
    return Math.max(0, ...this.#fetches.catalogs().map(({ copy }) => copy?.version.size ?? 0));
  }

  /** The state of each group whose catalog is in memory, for operators: as many as the cache holds. */
  get figures() {
    const nowMs = this.#options.clock.now();
    return this.#fetches.catalogs().flatMap((catalog) => figuresOf(catalog, nowMs) ?? []);
  }

  /** The estimated size of all catalogs in memory. */
  get byteSize(): number {
    return this.#fetches.byteSize;
  }

  /**
   * The next readers wait for the gateway's catalog of now, while the copies remain for the time that it fails: unless it
   * has another one, with which they have nothing to do.
   */
  expire({ isOther }: { readonly isOther: boolean }): void {
    const nowMs = this.#options.clock.now();
    for (const catalog of this.#fetches.catalogs()) catalog.expire(nowMs, isOther);
  }

  async #waitFor(wait: Wait): Promise<CatalogView> {
    const { viewer } = wait;
    for (;;) {
      const proof =
        this.#options.ledger.group(viewer) ??
        (await this.#prove(viewer, (source) => {
          wait.source = source;
        }));
      const view = this.#inMemory(proof, wait) ?? (await this.#fetch(proof, wait));
      if (view) return view;
    }
  }

  /** Null where another reader's token was refused, or the proof lapsed meanwhile: then the read starts over. */
  async #fetch(proof: GroupProof, wait: Wait): Promise<CatalogView | null> {
    const { ledger } = this.#options;
    const { viewer } = wait;
    const { group, key } = proof;
    const joined = this.#fetches.under(key);
    const fetch = joined ?? this.#fetches.launch(viewer, group, 'read');
    wait.source = joined ? 'shared' : null;
    const result = await fetch.result;
    const present = ledger.group(viewer) ?? (proof.isKept ? ledger.keptGroup(viewer) : null);
    const still = present?.group === group ? present : null;
    if ('catalog' in result) return still && this.#view(result.catalog, wait, still.isKept);
    if (result.isPersonal && fetch.leader !== viewer.tokenHash) return null;
    const kept = still && !result.isPersonal ? this.#inMemory(still, wait) : null;
    if (kept) return kept;
    throw result.error;
  }

  #inMemory(proof: GroupProof, wait: Wait): CatalogView | null {
    const { group, key } = proof;
    const { viewer } = wait;
    const nowMs = this.#options.clock.now();
    const catalog = this.#fetches.catalog(key);
    if (!catalog?.servesAt(nowMs)) return null;
    // A reader that has just waited for a copy starts no refresh.
    const mayRefresh = wait.source === 'cache' && !this.#fetches.under(key);
    if (mayRefresh && catalog.wantsRefresh(nowMs, viewer.tokenHash)) {
      this.#fetches.launch(viewer, group, 'refresh');
    }
    return this.#view(catalog, wait, proof.isKept);
  }

  #view(
    catalog: GroupCatalog,
    { viewer, sinceMs, source }: Wait,
    isKept: boolean,
  ): CatalogView | null {
    if (catalog.copy === null) return null;
    const nowMs = this.#options.clock.now();
    if (source !== null) {
      viewer.receipt?.({ operation: 'getAllTickers', ms: nowMs - sinceMs, source });
    }
    return new CatalogView(catalog, catalog.copy, nowMs, isKept);
  }
}

function figuresOf({ key, copy, offeredSize }: GroupCatalog, nowMs: number) {
  if (copy === null) return null;
  return {
    group: key,
    size: copy.version.size,
    /** In the gateway's last answer, which is not served where it has far fewer. */
    offered: offeredSize,
    skipped: copy.skipped,
    unknownValues: copy.unknownValues,
    ageSeconds: (nowMs - copy.sentAtMs + copy.initialAgeMs) / 1000,
    /** Until it is served no longer. */
    leftSeconds: Math.max(0, copy.servesUntilMs - nowMs) / 1000,
    /** Past its time, because the gateway fails or serves old copies itself. */
    isStale: copy.staleFromMs <= nowMs && nowMs < copy.servesUntilMs,
  };
}
