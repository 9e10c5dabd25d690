import { isDeepStrictEqual } from 'node:util';
import type { AccountProof } from '../domain/auth/proof.ts';
import type { Identified, ListEvent } from '../domain/feed/list-state.ts';
import type { Caller } from '../gateway/caller.ts';
import type { EventIterator } from '../lib/event-iterator.ts';
import { builder } from './builder.ts';
import { exposed, type RefOf } from './exposed.ts';
import { nonNull } from './field-options.ts';
import { changesArgs, eventFields, watching } from './live.ts';
import type { Services } from './scope.ts';

/** A live list of another service: its read, its rows, and how they are compared. */
interface LiveList<Row extends Identified> {
  /** The name of the events' type. */
  readonly type: string;
  readonly description: string;
  readonly row: RefOf<Row>;
  /** One poll of an account's list. Rows are told apart by their `id`. */
  readonly read: (
    services: Services,
    account: AccountProof,
    caller: Caller,
  ) => Promise<readonly Row[]>;
  /** Compares all fields by default. */
  readonly isSame?: (a: Row, b: Row) => boolean;
}

/**
 * Adds a subscription field that follows a list of another service as `positionChanges` follows the positions: polls that
 * all devices of an account share, a cursor, a heartbeat, `LIVE` and `DELAYED`, back-off, and the end of the token.
 */
export function liveList<Row extends Identified>(field: string, list: LiveList<Row>): void {
  const { type, description, row, read, isSame = isDeepStrictEqual } = list;
  const ChangesRef = builder.objectRef<ListEvent<Row>>(type).implement({
    description: 'The changes from the client’s list to the present one.',
    fields: (t) => ({
      ...eventFields(t),
      ...exposed<ListEvent<Identified>>(t, {
        '[ID!]!': { opened: 'Ids of rows that are new.', closed: 'Ids of rows that are gone.' },
      }),
      upserted: t.field({
        ...nonNull('Rows that are new or have changed; on a snapshot all rows.'),
        type: [row],
        resolve: ({ upserted }) => upserted,
      }),
    }),
  });
  builder.subscriptionField(field, (t) =>
    t.field({
      ...nonNull(description),
      type: ChangesRef,
      args: changesArgs,
      subscribe: async (_root, args, context): Promise<EventIterator<ListEvent<Row>>> =>
        watching(context, args, (proof, viewer) => {
          const { services } = context;
          const feeds = services.ownLists.of(list, () => ({
            name: field,
            isSame,
            read: (account, caller) => read(services, account, caller),
          }));
          return feeds.watch(proof, viewer, args);
        }),
      resolve: (changes: ListEvent<Row>) => changes,
    }),
  );
}
