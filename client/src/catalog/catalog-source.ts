import type { Core, OwnRequestOptions, Result } from '../core.ts';
import type { TradingGraphError } from '../errors.ts';
import type { Operation } from '../operation.ts';
import { withinTime } from '../request/deadline.ts';
import { protocolError } from '../request/failures.ts';
import type { CatalogCopy, CopyChanges } from './catalog-copy.ts';
import { type CatalogDocuments, type ChangesData, catalogDocuments } from './documents.ts';
import { Download, type Step } from './download.ts';
import type { InstrumentField, KeyFields } from './instrument.ts';
import { isSlowLine } from './slow-line.ts';

/** An answer of the server, which belongs to one version of one group's catalog. */
export interface FetchedChanges extends CopyChanges<KeyFields> {
  readonly group: string;
  readonly ageSeconds: number;
  /** How many instruments the version has. */
  readonly size: number;
}

/** The account that is asked for, and the listener of what arrives. */
export interface Asking {
  readonly login: string;
  readonly signal: AbortSignal;
  /** Called with each step of a download that may be taken up again; null where it begins anew. */
  readonly onStep: (download: Download, step: Step | null) => void;
  readonly onProgress: (loaded: number, total: number) => void;
}

const PAGE_SIZE = 500;
/** The server pages over two of them, to tell where the next one ends. */
const MAX_PART_SIZE = PAGE_SIZE / 2;
const FIRST_PART_SIZE = 100;
const MIN_PART_SIZE = 50;
/** A part that comes sooner is followed by a larger one, and one that takes longer by a smaller one. */
const SHORT_PART_MS = 4_000;
const LONG_PART_MS = 8_000;
/** A catalog that has not arrived whole by then is fetched in parts, which are kept. */
const WHOLE_MS = 5_000;
/** It is the question for the account, mostly, with the handshakes before it. */
const LONG_ROUND_TRIP_MS = 1_500;
const TRIES = 3;
const MAX_CHASE = 10;

/** Asks the server: in one request where its limits and the line allow it, else in parts. */
export class CatalogSource {
  readonly #core: Core;
  readonly #documents: CatalogDocuments;
  /** The server bounds how many fields an answer may have, which a large catalog has more of. */
  #isTooLarge = false;
  #isSlow = false;
  #download: Download | null = null;

  constructor(core: Core, fields: readonly InstrumentField[]) {
    this.#core = core;
    this.#documents = catalogDocuments(fields);
  }

  /** The account's group; null where the server cannot say it. */
  async group(login: string, signal: AbortSignal): Promise<string | null> {
    const options = { account: login, signal, repeats: true };
    const { data } = await this.#core.request(this.#documents.owner, {}, options);
    return data?.session?.login === login ? data.session.group : null;
  }

  /** The download of the account that has begun already. */
  begun(login: string): Download | null {
    return this.#download?.owner.login === login ? this.#download : null;
  }

  /** Goes on from there, as after a restart of the app; from the beginning with null. */
  resume(download: Download | null): void {
    this.#download = download;
  }

  /** The changes from a copy to the present version; the whole catalog where the server does not know the copy's. */
  async changes(from: CatalogCopy<KeyFields>, asking: Asking): Promise<FetchedChanges> {
    if (from.version === '') return (await this.#whole(asking)) ?? (await this.#inParts(asking));
    if (!this.#isTooLarge && from.stale.length === 0) {
      const result = await this.#changesSince(from.version, asking);
      if (!this.#isTooLarge && !isLost(result.errors)) return fetched(dataOf(result));
    }
    for (let tries = 0; tries < TRIES; tries += 1) {
      const paged = await this.#pagedChanges(from, asking);
      if (paged !== null) return paged;
    }
    // It changed each time, or what is stale was read from a storage that is damaged.
    return this.#inParts(asking);
  }

  async #changesSince(since: string, { login, signal }: Pick<Asking, 'login' | 'signal'>) {
    const result = await this.#core.request(
      this.#documents.changes,
      { since },
      // A bad line loses a large answer again; smaller pages have a better chance.
      { account: login, signal, repeats: true, endsOnLoss: true },
    );
    this.#isTooLarge ||= isTooComplex(result.errors);
    return result;
  }

  /** Null where it has to come in parts. */
  async #whole(asking: Asking): Promise<FetchedChanges | null> {
    const { environment, serverClock } = this.#core;
    const isSlow = environment.isSlowLine ?? isSlowLine;
    const isBegun = this.begun(asking.login) !== null;
    if (isBegun || this.#isTooLarge || this.#isSlow || isSlow()) return null;
    if (serverClock.roundTripMs > LONG_ROUND_TRIP_MS) return null;
    const { login, signal } = asking;
    return withinTime(environment, WHOLE_MS, signal, async (time) => {
      const result = await this.#changesSince('', { login, signal: time.signal });
      this.#isSlow = time.signal.aborted && !signal.aborted;
      if (this.#isSlow || this.#isTooLarge || isLost(result.errors)) return null;
      const whole = fetched(dataOf(result));
      asking.onProgress(whole.size, whole.size);
      return whole;
    });
  }

  /** Each part is kept, so that a line that is cut costs one of them. Two are on their way, or the line would be idle between them. */
  async #inParts(asking: Asking): Promise<FetchedChanges> {
    const { environment } = this.#core;
    const asked = new Map<string | null, ReturnType<typeof begin>>();
    let partSize = FIRST_PART_SIZE;
    let chased = 0;
    let cameAt = 0;
    const begin = (after: string | null, first: number) => {
      const startedAt = environment.uptime();
      const answer = this.#ask(
        this.#documents.part,
        { first, after, ahead: first + partSize },
        asking,
      );
      // Where another one has failed, nobody waits for it.
      answer.catch(() => {});
      return { answer, startedAt, following: partSize };
    };
    const askFor = (after: string | null, first: number) => {
      const part = asked.get(after) ?? begin(after, first);
      asked.set(after, part);
      return part;
    };
    for (;;) {
      const begun = this.begun(asking.login);
      const after = begun?.after ?? null;
      const part = askFor(after, partSize);
      const { catalog, instruments, next } = await part.answer;
      asked.delete(after);
      if (catalog === null || instruments === null || next === null) {
        throw protocolError('The server answers without a catalog.');
      }
      const tookMs = environment.uptime() - Math.max(part.startedAt, cameAt);
      cameAt = environment.uptime();
      if (tookMs < SHORT_PART_MS) partSize = Math.min(MAX_PART_SIZE, partSize * 2);
      if (tookMs > LONG_PART_MS) partSize = Math.max(MIN_PART_SIZE, Math.floor(partSize / 2));
      const { nodes, pageInfo } = instruments;
      if (pageInfo.hasNextPage) {
        const { following } = askFor(pageInfo.endCursor, part.following);
        if (next.pageInfo.hasNextPage) askFor(next.pageInfo.endCursor, following);
      }
      const { group, version, ageSeconds, size } = catalog;
      const download = begun?.owner.group === group ? begun : this.#beginDownload(group, asking);
      if (download.version !== version && download.version !== '') {
        chased += 1;
        if (chased > MAX_CHASE) {
          throw protocolError('The catalog changed each time while its pages were read.');
        }
        await this.#catchUp(download, asking);
      }
      const isAfter = after === this.#download?.after;
      // It was read at another place, or is of a version that has passed again.
      if (!isAfter || (download.version !== version && download.version !== '')) continue;
      const step = download.page(version, nodes, pageInfo.endCursor ?? download.after);
      asking.onStep(download, step);
      const upserted = download.instruments;
      asking.onProgress(Math.min(upserted.length, size), size);
      if (pageInfo.hasNextPage) continue;
      this.#download = null;
      return { group, version, ageSeconds, size, reset: true, removed: [], upserted };
    }
  }

  #beginDownload(group: string, asking: Asking): Download {
    const download = new Download({ login: asking.login, group });
    this.#download = download;
    asking.onStep(download, null);
    return download;
  }

  /** Brings the parts that have come to the present version; begins anew where the server has forgotten theirs. */
  async #catchUp(download: Download, asking: Asking): Promise<void> {
    const since = { since: download.version };
    const result = await this.#core.request(this.#documents.changes, since, optionsOf(asking));
    const changes = isTooComplex(result.errors) ? null : fetched(dataOf(result));
    if (changes === null || changes.reset || changes.group !== download.owner.group) {
      this.#download = null;
      return;
    }
    asking.onStep(download, download.changes(changes));
  }

  /** Null where the pages are not of one version. */
  async #pagedChanges({ version: since, stale }: CatalogCopy<KeyFields>, asking: Asking) {
    const { changedIds, page } = this.#documents;
    const changes = fetched(await this.#ask(changedIds, { since }, asking));
    if (changes.reset) return this.#inParts(asking);
    const known = new Set([...changes.upserted.map(({ id }) => id), ...stale]);
    for (const id of changes.removed) known.delete(id);
    const ids = [...known];
    const upserted: KeyFields[] = [];
    for (let from = 0; from < ids.length; from += PAGE_SIZE) {
      const wanted = ids.slice(from, from + PAGE_SIZE);
      const variables = { ids: wanted, first: wanted.length };
      const { catalog, instruments } = await this.#ask(page, variables, asking);
      const isSame = catalog?.version === changes.version && catalog.group === changes.group;
      if (!isSame || instruments?.nodes.length !== wanted.length) return null;
      upserted.push(...instruments.nodes);
    }
    return { ...changes, upserted };
  }

  async #ask<Data, Variables>(
    operation: Operation<Data, Variables>,
    variables: Variables,
    asking: Asking,
  ): Promise<Data> {
    return dataOf(await this.#core.request(operation, variables, optionsOf(asking)));
  }
}

function optionsOf({ login, signal }: Asking): OwnRequestOptions {
  return { account: login, signal, repeats: true };
}

/** An answer with an error anywhere is incomplete, and would become an incomplete copy. */
function dataOf<Data>({ data, errors }: Result<Data>): Data {
  if (errors[0] !== undefined) throw errors[0];
  if (data === null) throw protocolError('The server answers without data.');
  return data;
}

function fetched<Upserted>({ catalog }: ChangesData<Upserted>) {
  if (catalog === null) throw protocolError('The server answers without a catalog.');
  const { changes, ...head } = catalog;
  return { ...head, ...changes };
}

function isTooComplex(errors: readonly TradingGraphError[]): boolean {
  return errors.some(({ code }) => code === 'QUERY_TOO_COMPLEX');
}

function isLost(errors: readonly TradingGraphError[]): boolean {
  return errors.some(({ code }) => code === 'NETWORK');
}
