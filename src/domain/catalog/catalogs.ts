import { LRUCache } from 'lru-cache';
import { isGatewayError, UnsafePathError } from '../../gateway/gateway-error.ts';
import type { Clock } from '../../lib/clock.ts';
import { fireAndForget } from '../../lib/fire-and-forget.ts';
import type { Prover } from '../account/prover.ts';
import type { GroupProof, ProofLedger } from '../auth/proof.ts';
import { UnauthenticatedError } from '../auth/token-errors.ts';
import { TooManyAttemptsError } from '../auth/trading-limits.ts';
import { lasting, type Viewer } from '../auth/viewer.ts';
import type { ViewerGateway } from '../auth/viewer-gateway.ts';
import { type CatalogCopy, GroupCatalog, type GroupOptions } from './group-catalog.ts';

export interface CatalogsOptions extends GroupOptions {
  readonly gateway: Pick<ViewerGateway, 'getAllTickers'>;
  readonly ledger: ProofLedger;
  readonly prover: Pick<Prover, 'group'>;
  readonly maxBytes: number;
  readonly onFetched?: (outcome: 'modified' | 'unmodified' | 'failed' | 'personal') => void;
}

export type CatalogView = Readonly<ReturnType<typeof viewOf>>;

interface CatalogFetch {
  readonly caller: Viewer;
  readonly group: string;
}

const MAX_GROUPS = 100;
const OPERATION = 'getAllTickers';

/**
 * The catalog of each viewer's group, shared between the readers whose group is proved. Claims create no entry: a catalog
 * is stored only after the gateway has served it to a client.
 */
export class Catalogs {
  readonly #options: CatalogsOptions;
  readonly #catalogs: LRUCache<string, GroupCatalog, CatalogFetch>;
  /** The hash of the token of each call under way, by the key of its group. */
  readonly #calls = new Map<string, string>();

  constructor(options: CatalogsOptions) {
    const { maxBytes } = options;
    this.#options = options;
    this.#catalogs = new LRUCache({
      max: MAX_GROUPS,
      maxSize: maxBytes,
      // Capped: a catalog larger than the cache would not be stored, and each read would fetch it again. A byte for each
      // group stays free, because a fetch under way counts as one byte.
      sizeCalculation: ({ bytes }) => Math.min(maxBytes - MAX_GROUPS, bytes),
      noDeleteOnFetchRejection: true,
      // If an entry is evicted during its fetch, the readers still get the answer.
      ignoreFetchAbort: true,
      fetchMethod: (key, cached, { context: { caller, group } }) =>
        this.#call(caller, cached ?? new GroupCatalog(group, key, options)),
    });
  }

  /** Returns synchronously if the group is proved and a copy is cached. */
  read(viewer: Viewer): CatalogView | Promise<CatalogView> {
    const { clock, ledger } = this.#options;
    const proof = ledger.group(viewer);
    const inMemory = proof && this.#inMemory(viewer, proof, clock.now());
    return inMemory ?? this.#waitFor(viewer);
  }

  /** The number of instruments in the largest cached catalog, to estimate the cost of a list before any proof. */
  get largestSize(): number {
    return Math.max(0, ...this.#all.map(({ copy }) => copy?.version.size ?? 0));
  }

  get figures() {
    const nowMs = this.#options.clock.now();
    return this.#all.flatMap((catalog) => figuresOf(catalog, nowMs) ?? []);
  }

  get byteSize(): number {
    return this.#catalogs.calculatedSize;
  }

  /** Includes the catalogs that are being fetched. */
  get #all(): readonly GroupCatalog[] {
    const found: GroupCatalog[] = [];
    this.#catalogs.forEach((catalog) => {
      found.push(catalog);
    });
    return found;
  }

  async #waitFor(viewer: Viewer): Promise<CatalogView> {
    const { clock, prover } = this.#options;
    const sinceMs = clock.now();
    for (;;) {
      const proof = await prover.group(viewer);
      const inMemory = this.#inMemory(viewer, proof, sinceMs);
      const view = inMemory ?? (await this.#fetched(viewer, proof));
      if (view !== null) return view;
    }
  }

  #inMemory(viewer: Viewer, proof: GroupProof, sinceMs: number): CatalogView | null {
    const catalog = this.#catalogs.get(proof.key);
    const copy = catalog?.served;
    if (!catalog || !copy) return null;
    if (catalog.isDue && !this.#calls.has(proof.key)) {
      const refresh = this.#fetch(lasting(viewer), proof);
      // A personal failure is counted and needs no log. Any other failure is logged by the group.
      const ended = refresh.catch((error: unknown) => {
        if (!isPersonal(error)) throw error;
      });
      fireAndForget('catalog refresh', ended);
    }
    const ms = this.#options.clock.now() - sinceMs;
    viewer.receipt?.({ operation: OPERATION, ms, source: 'cache' });
    return viewOf(catalog, copy, this.#options.clock);
  }

  /** Null if another reader's token was refused, or this reader's proof has ended. Then the read starts again. */
  async #fetched(viewer: Viewer, proof: GroupProof): Promise<CatalogView | null> {
    const { clock, ledger } = this.#options;
    const sinceMs = clock.now();
    const joined = this.#calls.get(proof.key);
    try {
      const catalog = await this.#fetch(viewer, proof);
      // A copy that has just arrived answers this read, even if it is too old for later ones.
      const copy = catalog.served ?? catalog.copy;
      const isProved = ledger.group(viewer)?.group === proof.group;
      if (!copy || !isProved) return null;
      const ms = clock.now() - sinceMs;
      if (joined !== undefined) viewer.receipt?.({ operation: OPERATION, ms, source: 'shared' });
      return viewOf(catalog, copy, clock);
    } catch (error) {
      const isOthersToken = joined !== undefined && joined !== viewer.tokenHash;
      if (isOthersToken && isPersonal(error)) return null;
      throw error;
    }
  }

  /** Joins the call under way, or starts one. Resolves if the catalog can be served, otherwise rejects like the call. */
  #fetch(caller: Viewer, { group, key }: GroupProof): Promise<GroupCatalog> {
    return this.#catalogs.forceFetch(key, { context: { caller, group }, forceRefresh: true });
  }

  async #call(caller: Viewer, catalog: GroupCatalog): Promise<GroupCatalog> {
    const { gateway, onFetched } = this.#options;
    const confirmed = catalog.copy?.etag ? catalog.copy : null;
    this.#calls.set(catalog.key, caller.tokenHash);
    try {
      const answer = await gateway.getAllTickers(caller, catalog.group, confirmed?.etag ?? null);
      await catalog.receive(answer, confirmed);
      onFetched?.(answer.modified ? 'modified' : 'unmodified');
    } catch (error) {
      const isTokensFault = isPersonal(error);
      onFetched?.(isTokensFault ? 'personal' : 'failed');
      // A refresh with the next reader's token may succeed.
      if (!isTokensFault) catalog.fail(error);
      if (isTokensFault || catalog.served === null) throw error;
    } finally {
      this.#calls.delete(catalog.key);
    }
    return catalog;
  }
}

/** A group's catalog as one reader got it. A refresh does not change it. */
function viewOf({ group, key, history }: GroupCatalog, copy: CatalogCopy, clock: Clock) {
  const nowMs = clock.now();
  const { version, skipped } = copy;
  const stale = nowMs >= copy.staleFromMs;
  return {
    group,
    key,
    version,
    skipped,
    stale,
    ageSeconds: Math.max(0, Math.floor((copy.initialAgeMs + nowMs - copy.sentAtMs) / 1000)),
    fetchedAt: new Date(clock.dateOf(copy.sentAtMs)),
    expiresAt: new Date(clock.dateOf(copy.expiresMs)),
    changes: (since: string) => history.changes(since, version),
  };
}

function figuresOf({ key, copy, offeredSize }: GroupCatalog, nowMs: number) {
  if (copy === null) return null;
  return {
    group: key,
    size: copy.version.size,
    /** The size of the gateway's last answer. An answer with far fewer instruments is not served. */
    offered: offeredSize,
    skipped: copy.skipped,
    leftSeconds: Math.max(0, copy.servesUntilMs - nowMs) / 1000,
    /** Whether the copy is served past its time, because the gateway fails or serves old copies itself. */
    isStale: copy.staleFromMs <= nowMs && nowMs < copy.servesUntilMs,
  };
}

/** Whether a failure concerns only its token, and shows nothing about the gateway. */
function isPersonal(error: unknown): boolean {
  return (
    isGatewayError(error, 'unauthenticated', 'forbidden') ||
    error instanceof UnauthenticatedError ||
    error instanceof TooManyAttemptsError ||
    error instanceof UnsafePathError
  );
}
