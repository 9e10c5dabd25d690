import type { Core, Result } from '../core.ts';
import type { Operation } from '../operation.ts';
import { MAX_MS, withinTime } from '../request/deadline.ts';
import { protocolError } from '../request/failures.ts';
import { type CatalogCopy, type CopyChanges, NONE } from './catalog-copy.ts';
import { type CatalogDocuments, type ChangesData, catalogDocuments } from './documents.ts';
import type { Held } from './held-copy.ts';
import type { InstrumentField, KeyFields } from './instrument.ts';
import { isSlowLine } from './slow-line.ts';

/** The copy that the server's answers led to, and what the server says of it. */
export interface Fetched {
  readonly copy: CatalogCopy<KeyFields>;
  readonly group: string;
  readonly ageSeconds: number;
  /** How many instruments the version has. */
  readonly size: number;
}

/** The account that is asked for, and the listener of what arrives. */
export interface Asking {
  readonly login: string;
  readonly signal: AbortSignal;
  /** Called with the copy so far, of which some are still to come. */
  readonly onPart: (part: Fetched) => void;
  readonly onProgress: (loaded: number, total: number) => void;
}

/** An answer of the server, which belongs to one version of one group's catalog. */
type Changes = Omit<Fetched, 'copy'> & CopyChanges<{ readonly id: string }>;
type CopyOf = Pick<Held, 'owner' | 'copy'>;

const MAX_PART_SIZE = 250;
const FIRST_PART_SIZE = 100;
const MIN_PART_SIZE = 50;
/** The line would be idle between two parts if only one of them was on its way. */
const PARTS_UNDER_WAY = 2;
/** A part that comes sooner is followed by a larger one, and one that takes longer by a smaller one. */
const SHORT_PART_MS = 4_000;
const LONG_PART_MS = 8_000;
/** A catalog that has not arrived whole by then is fetched in parts, which are kept. */
const WHOLE_MS = 5_000;
/** It is the question for the account, mostly, with the handshakes before it. */
const LONG_ROUND_TRIP_MS = 1_500;
const MAX_CHASE = 10;

/** Asks the server: in one request where its limits and the line allow it, else in parts. */
export class CatalogSource {
  readonly #core: Core;
  readonly #documents: CatalogDocuments;
  /** The server bounds how many fields an answer may have, which a large catalog has more of. */
  #isTooLarge = false;
  #isSlow = false;
  /** The copy in parts as far as it has come, to go on from. */
  #begun: CopyOf | null = null;

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

  /** Drops what has come in parts, as another account has to. */
  forget(): void {
    this.#begun = null;
  }

  /** Leads from a copy to the present version; to the whole catalog where the server does not know the copy's. */
  async changes(held: CopyOf | null, asking: Asking): Promise<Fetched> {
    const from = this.#begun?.owner.login === asking.login ? this.#begun : held;
    const copy = from?.copy ?? NONE;
    if (copy.stale.length > 0) return this.#inParts(from, asking);
    const changes = await this.#atOnce(copy.version, asking);
    if (changes === null) return this.#inParts(from, asking);
    const isNext = changes.reset || changes.group === from?.owner.group;
    return isNext ? { ...changes, copy: copy.after(changes) } : this.changes(null, asking);
  }

  /** Null where it has to come in parts, since it is too large, or the line too slow or too bad for it. */
  async #atOnce(since: string, { login, signal, onProgress }: Asking) {
    const { environment, serverClock } = this.#core;
    const isFirst = since === '';
    const isSlow =
      this.#isSlow ||
      (environment.isSlowLine ?? isSlowLine)() ||
      serverClock.roundTripMs > LONG_ROUND_TRIP_MS;
    if (this.#isTooLarge || (isFirst && isSlow)) return null;
    return withinTime(environment, isFirst ? WHOLE_MS : MAX_MS, signal, async (time) => {
      const result = await this.#core.request(
        this.#documents.changes,
        { since },
        // A bad line loses a large answer again; smaller ones have a better chance.
        { account: login, signal: time.signal, repeats: true, endsOnLoss: true },
      );
      const isLate = time.signal.aborted && !signal.aborted;
      this.#isSlow ||= isLate;
      this.#isTooLarge = result.errors.some(({ code }) => code === 'QUERY_TOO_COMPLEX');
      const isLost = result.errors.some(({ code }) => code === 'NETWORK');
      if (isLate || isLost || this.#isTooLarge) return null;
      const changes = fetched(dataOf(result));
      if (isFirst) onProgress(changes.size, changes.size);
      return changes;
    });
  }

  /** Asks for the ids of what has changed, or of all, then for some instruments at a time: a line that is cut costs one part. */
  async #inParts(from: CopyOf | null, asking: Asking): Promise<Fetched> {
    const { login } = asking;
    let { copy = NONE, owner } = from ?? {};
    let barren = 0;
    for (let chased = 0; chased < MAX_CHASE; chased += 1) {
      const since = { since: copy.version };
      const changes = fetched(await this.#ask(this.#documents.changedIds, since, asking));
      const { group, reset, removed, upserted } = changes;
      if (!reset && group !== owner?.group) {
        copy = NONE;
        continue;
      }
      owner = { login, group };
      const stale = new Set(reset ? [] : copy.stale);
      for (const { id } of upserted) stale.add(id);
      for (const id of removed) stale.delete(id);
      const begun = copy.after({ ...changes, upserted: [] }, [...stale]);
      copy = await this.#parts(begun, changes, asking);
      if (copy.stale.length === 0) {
        this.#begun = null;
        return { ...changes, copy };
      }
      barren = copy === begun ? barren + 1 : 0;
      // The server has not what is said to be stale, as where the storage is damaged.
      if (barren > 1) copy = NONE;
    }
    throw protocolError('The catalog changed each time while its parts were read.');
  }

  /** Takes up what is stale, as far as it comes of the version that the changes lead to. */
  async #parts(
    from: CatalogCopy<KeyFields>,
    { version, group, ageSeconds, size }: Changes,
    asking: Asking,
  ): Promise<CatalogCopy<KeyFields>> {
    const { environment } = this.#core;
    const begin = () => {
      const ids = waiting.splice(0, partSize);
      const answer = this.#ask(this.#documents.page, { ids, first: ids.length }, asking);
      // Where another one has failed, nobody waits for it.
      answer.catch(() => {});
      return { ids, answer, startedAt: environment.uptime() };
    };
    const waiting = [...from.stale];
    const underWay: ReturnType<typeof begin>[] = [];
    let partSize = FIRST_PART_SIZE;
    let cameAt = 0;
    let copy = from;
    while (copy.stale.length > 0) {
      while (waiting.length > 0 && underWay.length < PARTS_UNDER_WAY) underWay.push(begin());
      const { ids, answer, startedAt } = underWay.shift() as ReturnType<typeof begin>;
      const { catalog, instruments } = await answer;
      const nodes = instruments?.nodes ?? [];
      const isSame = catalog?.version === version && catalog.group === group;
      if (!isSame || nodes.length !== ids.length) return copy;
      const tookMs = environment.uptime() - Math.max(startedAt, cameAt);
      cameAt = environment.uptime();
      if (tookMs < SHORT_PART_MS) partSize = Math.min(MAX_PART_SIZE, partSize * 2);
      if (tookMs > LONG_PART_MS) partSize = Math.max(MIN_PART_SIZE, Math.floor(partSize / 2));
      const came = new Set(ids);
      const stale = copy.stale.filter((id) => !came.has(id));
      copy = copy.after({ version, reset: false, removed: [], upserted: nodes }, stale);
      this.#begun = { owner: { login: asking.login, group }, copy };
      if (stale.length > 0) asking.onPart({ copy, group, ageSeconds, size });
      asking.onProgress(size - stale.length, size);
    }
    return copy;
  }

  async #ask<Data, Variables>(
    operation: Operation<Data, Variables>,
    variables: Variables,
    { login, signal }: Asking,
  ): Promise<Data> {
    const options = { account: login, signal, repeats: true };
    return dataOf(await this.#core.request(operation, variables, options));
  }
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
