import { isDeepStrictEqual } from 'node:util';
import type { Account } from '../../lib/account.ts';
import type { Client } from '../../lib/limits/client.ts';
import type { ListChanges } from '../../lib/live/list-state.ts';
import type { LiveOptions, TokenRules, WatchOptions } from '../../lib/live/live-options.ts';
import { PolledLists, type PolledListsOptions } from '../../lib/live/polled-lists.ts';
import type { PullStream } from '../../lib/pull-stream.ts';
import { valueKey } from '../../lib/value-key.ts';
import { GatewayError } from '../gateway/errors.ts';
import type { AccountProof } from './auth/proof.ts';
import { lasting, polling, type Viewer } from './auth/viewer.ts';
import { checkTimes } from './live-arguments.ts';
import { PublicLists } from './public-lists.ts';

/** The property with the key that tells a row apart in its list. */
export const ROW_KEY = Symbol('key of a live row');

/** A row of a live list: plain JSON, which nobody changes. */
export interface Row {
  readonly [ROW_KEY]: string;
  readonly [property: string]: unknown;
}

/** The rows of a read. Equal text means equal rows. */
export interface ReadRows {
  readonly rows: readonly Row[];
  readonly text: string;
}

/** A kind of live list, read from a service beside the gateway. */
export interface RowsKind {
  readonly name: string;
  /** Names its reads in errors. */
  readonly operation: string;
  readonly everyMs: number;
  /** Whether a list is everybody's, and there is one for each set of arguments. */
  readonly isPublic: boolean;
  /** The properties of a row that are sent apart where nothing else of it has changed. */
  readonly moving: readonly string[];
}

export interface LiveRowsParts extends Omit<LiveOptions<Viewer>, 'pollMs'> {
  readonly tokens: TokenRules<Viewer>;
  /** `viewer` is a proved one; null for a list that is everybody's. `shown`: what the last read brought. */
  read(viewer: Viewer | null, args: object, shown: ReadRows | null): Promise<ReadRows>;
}

export type RowChanges = ListChanges<Row, null>;

/** The reader of a list that is everybody's: one for all its subscriptions. */
const EVERYBODY = { tokenHash: '', expiresAtMs: null, token: null } as const;
type Follower = Viewer | typeof EVERYBODY;

/** The client that asks for a list of everybody's. */
interface PublicFollower {
  readonly kind: 'client';
  readonly client: Client;
}

interface AccountFollower {
  readonly kind: 'account';
  readonly proof: AccountProof;
  readonly viewer: Viewer;
}

const RETRY_SECONDS = 10;

export type LiveRows = ReturnType<typeof createLiveRows>;

/**
 * The live lists of one kind: one for each account, or one for each set of arguments where they are everybody's. A list of an
 * account is read for a subscriber whose token the gateway accepts: where none has fresh proof, a call proves one first.
 */
export function createLiveRows(kind: RowsKind, parts: LiveRowsParts) {
  const { operation, everyMs: pollMs, isPublic } = kind;
  const { tokens, ...others } = parts;
  const endBehind = (error: unknown) =>
    // A backend that refuses its call says nothing of the token: the gateway alone does.
    error instanceof GatewayError && error.operation.includes('.') ? null : tokens.endBehind(error);
  const options: PolledListsOptions<Follower, Row, ReadRows, object> = {
    ...others,
    ...(!isPublic && { tokens: { ...tokens, endBehind, isProvedByPolls: false } }),
    pollMs,
    pollMaxMs: Math.max(pollMs, parts.pollMaxMs),
    keyOf: (row) => row[ROW_KEY],
    isSame: comparison([]),
    isSameBesides: comparison(kind.moving),
    async read(follower, args, shown) {
      const viewer = follower.token === null ? null : polling(follower);
      if (viewer !== null) await tokens.prove(viewer);
      return parts.read(viewer, args, shown);
    },
  };
  const lists = new PolledLists(options);
  const publicLists = new PublicLists(lists);

  function watchPublic(client: Client, args: object, how: WatchOptions): PullStream<RowChanges> {
    const key = valueKey(args);
    const follow = () => lists.follow({ key, of: args, viewer: EVERYBODY }, how);
    if (lists.get(key) !== undefined) return follow();
    if (!publicLists.hasRoomFor(client)) {
      throw new GatewayError('rate-limited', operation, 'too many lists of other arguments', {
        retryAfterSeconds: RETRY_SECONDS,
      });
    }
    return publicLists.opened(key, client, follow());
  }

  return {
    lists,
    isPublic,
    /** Emits a snapshot, or resumes at `after`, then deltas. */
    watch(
      as: AccountFollower | PublicFollower,
      args: object,
      how: WatchOptions,
    ): PullStream<RowChanges> {
      const isOfClient = as.kind === 'client';
      if (isOfClient !== isPublic || (!isOfClient && as.proof.account !== as.viewer.account)) {
        throw new Error('the proof is of another account');
      }
      checkTimes(how);
      if (isOfClient) return watchPublic(as.client, args, how);
      return lists.follow({ key: as.proof.account, of: args, viewer: lasting(as.viewer) }, how);
    },
    /** Reads before the interval is over: a write of the account may have changed the list. */
    refresh(account: Account): void {
      if (isPublic) for (const list of lists.all) list.pollNow();
      else lists.get(account)?.pollNow();
    },
  };
}

/** Compares rows by their properties but these. To compare whole rows deeply takes three times as long. */
function comparison(ignored: readonly string[]) {
  return (a: Row, b: Row): boolean => {
    const names = Object.keys(a);
    const isSame = (name: string) =>
      a[name] === b[name] || ignored.includes(name) || isDeepStrictEqual(a[name], b[name]);
    return names.length === Object.keys(b).length && names.every(isSame);
  };
}
