import type { Core, RequestOptions, Result } from '../core.ts';
import type { TradingGraphError } from '../errors.ts';
import type { Operation } from '../operation.ts';
import { protocolError } from '../request/failures.ts';
import type { CopyChanges } from './catalog-copy.ts';
import { type CatalogDocuments, catalogDocuments } from './documents.ts';
import type { InstrumentField, KeyFields } from './instrument.ts';

/** An answer of the server, which belongs to one version of one group's catalog. */
export interface FetchedChanges extends CopyChanges<KeyFields> {
  readonly group: string;
  readonly ageSeconds: number;
  /** How many instruments the version has. */
  readonly size: number;
}

const PAGE_SIZE = 500;
const TRIES = 3;

/** Asks the server, in one request where its limits allow it, else in pages. */
export class CatalogSource {
  readonly #core: Core;
  readonly #documents: CatalogDocuments;
  #isPaged = false;

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

  /** The changes from a version to the present one; the whole catalog where the server does not know the version. */
  async changes(since: string, login: string, signal: AbortSignal): Promise<FetchedChanges> {
    const options = { account: login, signal, repeats: true };
    if (!this.#isPaged) {
      const result = await this.#core.request(this.#documents.changes, { since }, options);
      // The server bounds how many fields an answer may have, which a large catalog has more of.
      if (!isTooComplex(result.errors)) return fetched(dataOf(result));
      this.#isPaged = true;
    }
    for (let tries = 0; tries < TRIES; tries += 1) {
      const paged = await this.#pagedChanges(since, options);
      if (paged !== null) return paged;
    }
    throw protocolError('The catalog changed each time while its pages were read.');
  }

  /** Null where the pages are not of one version. */
  async #pagedChanges(since: string, options: RequestOptions): Promise<FetchedChanges | null> {
    const { changedIds, page } = this.#documents;
    const changes = fetched(await this.#ask(changedIds, { since }, options));
    const ids = changes.upserted.map(({ id }) => id);
    const upserted: KeyFields[] = [];
    for (let from = 0; from < ids.length; from += PAGE_SIZE) {
      const wanted = ids.slice(from, from + PAGE_SIZE);
      const variables = { ids: wanted, first: wanted.length };
      const { catalog, instruments } = await this.#ask(page, variables, options);
      const isSame = catalog?.version === changes.version && catalog.group === changes.group;
      if (!isSame || instruments?.nodes.length !== wanted.length) return null;
      upserted.push(...instruments.nodes);
    }
    return { ...changes, upserted };
  }

  async #ask<Data, Variables>(
    operation: Operation<Data, Variables>,
    variables: Variables,
    options: RequestOptions,
  ): Promise<Data> {
    return dataOf(await this.#core.request(operation, variables, options));
  }
}

/** An answer with an error anywhere is incomplete, and would become an incomplete copy. */
function dataOf<Data>({ data, errors }: Result<Data>): Data {
  if (errors[0] !== undefined) throw errors[0];
  if (data === null) throw protocolError('The server answers without data.');
  return data;
}

function fetched<Upserted>(data: {
  readonly catalog: {
    readonly group: string;
    readonly ageSeconds: number;
    readonly size: number;
    readonly changes: CopyChanges<Upserted>;
  } | null;
}) {
  if (data.catalog === null) throw protocolError('The server answers without a catalog.');
  const { group, ageSeconds, size, changes } = data.catalog;
  return { group, ageSeconds, size, ...changes };
}

function isTooComplex(errors: readonly TradingGraphError[]): boolean {
  return errors.some(({ code }) => code === 'QUERY_TOO_COMPLEX');
}
