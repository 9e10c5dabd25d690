import type { Account } from '../../../lib/account.ts';
import type { ForwardedHeaders } from '../../../lib/caller.ts';
import { type Clock, recurring } from '../../../lib/clock.ts';
import { isObject } from '../../../lib/is-object.ts';
import { toLogin } from '../auth/claims.ts';
import type { ProofLedger } from '../auth/proof.ts';
import { accountOf, type Viewer } from '../auth/viewer.ts';
import type { Catalogs } from '../catalog/catalogs.ts';
import { InputError } from '../input-error.ts';
import type { AccountEvents } from './account-events.ts';
import type { Sessions } from './sessions.ts';

/** A change that a broker's own systems report. */
export type Told =
  | { readonly kind: 'accounts'; readonly accounts: readonly Account[] }
  | { readonly kind: 'group'; readonly name: string }
  | { readonly kind: 'list'; readonly name: string };

interface ToldList {
  readonly tokens: { readonly viewer: object | null };
  accountChanged(): void;
}

interface ToldLists {
  get(key: string): ToldList | undefined;
  readonly all: readonly ToldList[];
}

type NamedLists = readonly [name: string, lists: ToldLists, isPublic: boolean];

export interface ToldChangesParts {
  readonly accounts: AccountEvents;
  readonly sessions: Pick<Sessions, 'forgetGroup'>;
  readonly catalogs: Pick<Catalogs, 'outdate' | 'renew'>;
  readonly ledger: Pick<ProofLedger, 'groupOf'>;
  /** The live lists by their names, those of accounts and those of everybody. */
  readonly lists: () => readonly NamedLists[];
  readonly clock: Clock;
  readonly pollsPerSecond: number;
}

const MAX_LOGINS = 1_000;
const MAX_NAME_LENGTH = 256;
const SLICE_MS = 100;
/** The rest is for those who begin to follow a list, and for orders. */
const SHARE_OF_POLLS = 0.5;

/** Reads what a caller of the operators' port has sent; throws an InputError for anything else. */
export function toldIn(
  body: unknown,
  forwarded: (headers: Readonly<Record<string, unknown>>) => ForwardedHeaders | undefined,
): Told {
  const { headers, ...named } = isObject(body) ? body : {};
  const [name = '', ...others] = Object.keys(named);
  if (others.length > 0 || !['logins', 'group', 'list'].includes(name)) {
    throw new InputError('', 'one of logins, group and list is needed, and nothing else');
  }
  const value = named[name];
  if (name !== 'logins') {
    const isName = typeof value === 'string' && value !== '' && value.length <= MAX_NAME_LENGTH;
    if (!isName || headers !== undefined) throw new InputError(name, 'must be a name, and alone');
    return { kind: name === 'group' ? name : 'list', name: value };
  }
  const logins = Array.isArray(value) ? value.map(toLogin) : [];
  if (logins.length === 0 || logins.length > MAX_LOGINS) {
    throw new InputError(name, `must be 1 to ${MAX_LOGINS} logins`);
  }
  if (headers !== undefined && !isObject(headers))
    throw new InputError('headers', 'must be names and values');
  const tenant = forwarded(headers ?? {});
  const accounts = logins.map((login, at) => {
    if (login === null) throw new InputError(`logins.${at}`, 'must be a login');
    return accountOf(login, tenant);
  });
  return { kind: 'accounts', accounts };
}

/**
 * Makes snapshots and catalogs stale as soon as a change of them is reported, and has live lists polled. These polls take at most
 * half of the ceiling, however many lists there are and however often changes are reported.
 */
export function createToldChanges(parts: ToldChangesParts) {
  const { accounts, sessions, catalogs, ledger, lists, clock, pollsPerSecond } = parts;
  const inSlice = pollsPerSecond * SHARE_OF_POLLS * (SLICE_MS / 1000);
  const due = new Set<ToldList>();
  const plan = recurring(clock, SLICE_MS / Math.min(1, inSlice), () => {
    for (const list of [...due].slice(0, Math.max(1, inSlice))) {
      due.delete(list);
      list.accountChanged();
    }
    return due.size > 0;
  });

  function listsOf(told: Told): readonly (ToldList | undefined)[] {
    if (told.kind === 'list') {
      return lists().flatMap(([name, { all }]) => (name === told.name ? all : []));
    }
    const ofAccounts = lists().flatMap(([, each, isPublic]) => (isPublic ? [] : each));
    if (told.kind === 'group') {
      const isOf = ({ tokens: { viewer } }: ToldList) =>
        viewer !== null && ledger.groupOf(viewer as Viewer) === told.name;
      return ofAccounts.flatMap(({ all }) => all.filter(isOf));
    }
    return ofAccounts.flatMap((each) => told.accounts.map((account) => each.get(account)));
  }

  return function tell(told: Told): void {
    if (told.kind === 'accounts') for (const each of told.accounts) accounts.emit('told', each);
    const isGroup = told.kind === 'group';
    if (isGroup) {
      sessions.forgetGroup(told.name);
      catalogs.outdate(told.name);
    }
    for (const list of listsOf(told)) {
      if (!list) continue;
      due.add(list);
      // One of those who follow their lists brings the catalog, or else its next reader.
      if (isGroup) catalogs.renew(list.tokens.viewer as Viewer);
    }
    if (due.size > 0) plan();
  };
}
