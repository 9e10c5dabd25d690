import type { Client } from '../../lib/limits/client.ts';
import type { PullStream } from '../../lib/pull-stream.ts';

// Anybody may follow a list of any arguments, and each is polled: one client must not keep the others out, nor those without a
// proved account the accounts.
const MAX_LISTS = 500;
const MAX_OF_UNPROVED = 400;
const MAX_OF_A_CLIENT = 50;

interface Lists {
  get(key: string): unknown;
  hasRoom(most: number): boolean;
}

/** The lists of one kind that are everybody's, with the client that opened each. */
export class PublicLists {
  readonly #lists: Lists;
  readonly #openings = new Map<string, { readonly client: string; readonly ending: AbortSignal }>();

  constructor(lists: Lists) {
    this.#lists = lists;
  }

  hasRoomFor({ kind, key: client }: Client): boolean {
    let own = 0;
    // A list is there from its first reading on.
    let unread = 0;
    for (const [key, opening] of this.#openings) {
      const isThere = this.#lists.get(key) !== undefined;
      if (!isThere && opening.ending.aborted) this.#openings.delete(key);
      else {
        if (!isThere) unread += 1;
        if (opening.client === client) own += 1;
      }
    }
    const most = kind === 'account' ? MAX_LISTS : MAX_OF_UNPROVED;
    return own < MAX_OF_A_CLIENT && this.#lists.hasRoom(most - unread);
  }

  /** Charges a list to the client until it is gone, some seconds after nobody follows it any more. */
  opened<Stream extends PullStream<unknown>>(key: string, { key: client }: Client, stream: Stream) {
    this.#openings.set(key, { client, ending: stream.ending });
    return stream;
  }
}
