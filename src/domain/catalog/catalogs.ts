import type { ReceiptSource } from '../../gateway/caller.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { Prover } from '../account/prover.ts';
import type { GroupProof, ProofLedger } from '../auth/proof.ts';
import type { Viewer } from '../auth/viewer.ts';
import type { ViewerGateway } from '../auth/viewer-gateway.ts';
import { CatalogFetches } from './catalog-fetches.ts';
import { CatalogView } from './catalog-view.ts';
import type { GroupCatalog } from './group-catalog.ts';
import { GroupProver } from './group-prover.ts';
import { VersionArchive, type VersionStore } from './version-archive.ts';

export interface CatalogsOptions {
  readonly gateway: Pick<ViewerGateway, 'getAllTickers'>;
  readonly ledger: ProofLedger;
  readonly prover: Pick<Prover, 'group'>;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Pick<Log, 'warn'>;
  readonly maxAgeMs: number;
  readonly staleMs: number;
  /** The store that replicas share; null where there is only one. */
  readonly versions?: VersionStore | null;
  readonly maxGroups?: number;
  /** Estimated heap of all catalogs together. */
  readonly maxBytes?: number;
  /** Estimated heap of the history that one group keeps of its former versions. */
  readonly historyBytes?: number;
}

const MIB = 1024 * 1024;

export function createCatalogs(options: CatalogsOptions): Catalogs {
  const { versions = null, log } = options;
  return new Catalogs({
    maxGroups: 100,
    maxBytes: 512 * MIB,
    historyBytes: 8 * MIB,
    ...options,
    archive: versions === null ? null : new VersionArchive(versions, log),
  });
}

type Settings = Required<Omit<CatalogsOptions, 'versions'>> & {
  readonly archive: VersionArchive | null;
};

/** The read's source and start, for the receipt; null where the read's own call appears on it already. */
interface Wait {
  readonly viewer: Viewer;
  readonly sinceMs: number;
  source: ReceiptSource | null;
}

/** The catalog of each viewer's group, shared between the readers that the gateway has accepted. */
export class Catalogs {
  readonly #settings: Settings;
  readonly #fetches: CatalogFetches;
  readonly #prover: GroupProver;

  constructor(settings: Settings) {
    this.#settings = settings;
    this.#fetches = new CatalogFetches(settings);
    this.#prover = new GroupProver({ ...settings, fetches: this.#fetches });
  }

  /** Returns synchronously where the token is proved and a copy is cached. */
  read(viewer: Viewer): CatalogView | Promise<CatalogView> {
    const { ledger, clock } = this.#settings;
    const wait: Wait = { viewer, sinceMs: clock.now(), source: 'cache' };
    const proof = ledger.group(viewer);
    return (proof && this.#inMemory(proof, wait)) ?? this.#waitFor(wait);
  }

  /** Instruments of the largest cached catalog, to estimate the cost of a list before any proof. */
  get heldSize(): number {
    let size = 0;
    for (const { copy } of this.#fetches.catalogs()) size = Math.max(size, copy?.version.size ?? 0);
    return size;
  }

  /** Groups whose catalog has outlived its age, because the gateway fails or serves old copies itself. */
  get staleGroups(): readonly string[] {
    const nowMs = this.#settings.clock.now();
    const stale: string[] = [];
    for (const { group, copy } of this.#fetches.catalogs()) {
      if (copy && copy.staleFromMs <= nowMs && nowMs < copy.servesUntilMs) stale.push(group);
    }
    return stale;
  }

  async #waitFor(wait: Wait): Promise<CatalogView> {
    const { viewer } = wait;
    for (;;) {
      const proof =
        this.#settings.ledger.group(viewer) ??
        (await this.#prover.prove(viewer, (source) => {
          wait.source = source;
        }));
      const view = this.#inMemory(proof, wait) ?? (await this.#fetch(proof, wait));
      if (view) return view;
    }
  }

  /** Null where another reader's token was refused, or the proof lapsed meanwhile: then the read starts over. */
  async #fetch(proof: GroupProof, wait: Wait): Promise<CatalogView | null> {
    const { ledger } = this.#settings;
    const { viewer } = wait;
    const { group } = proof;
    const joined = this.#fetches.under(group);
    const fetch = joined ?? this.#fetches.launch(viewer, group, 'read');
    wait.source = joined ? 'shared' : null;
    const result = await fetch.result;
    const isStillProved = ledger.group(viewer)?.group === group;
    if ('catalog' in result) return isStillProved ? this.#view(result.catalog, wait) : null;
    if (result.isPersonal && fetch.leader !== viewer.tokenHash) return null;
    const kept = isStillProved && !result.isPersonal ? this.#inMemory(proof, wait) : null;
    if (kept) return kept;
    throw result.error;
  }

  #inMemory(proof: GroupProof, wait: Wait): CatalogView | null {
    const { group } = proof;
    const { viewer } = wait;
    const nowMs = this.#settings.clock.now();
    const catalog = this.#fetches.catalog(group);
    if (!catalog?.servesAt(nowMs)) return null;
    // A reader that has just waited for a copy starts no refresh.
    const mayRefresh = wait.source === 'cache' && !this.#fetches.under(group);
    if (mayRefresh && catalog.wantsRefresh(nowMs, viewer.tokenHash)) {
      this.#fetches.launch(viewer, group, 'refresh');
    }
    return this.#view(catalog, wait);
  }

  #view(
    { group, copy, history }: GroupCatalog,
    { viewer, sinceMs, source }: Wait,
  ): CatalogView | null {
    if (copy === null) return null;
    const { clock, archive } = this.#settings;
    const nowMs = clock.now();
    if (source !== null) {
      viewer.caller.receipt?.({ operation: 'getAllTickers', ms: nowMs - sinceMs, source });
    }
    return new CatalogView(group, copy, nowMs, history, archive);
  }
}
