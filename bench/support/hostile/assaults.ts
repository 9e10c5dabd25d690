import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { headersOf, postBytes } from '../post.ts';
import {
  type Account,
  bodyOf,
  type HostileDocument,
  type HostileReply,
  openHostileClient,
} from './hostile-client.ts';
import { openHostileSocket } from './hostile-socket.ts';

export type Kind = 'nobody' | 'query' | 'event' | 'unread' | 'many';

export interface Target {
  readonly account: Account;
  /** The document under another name each time, so that no cache serves it again. */
  readonly write: () => HostileDocument;
  /** Aborts when the time is over. */
  readonly signal: AbortSignal;
  readonly replies: ReplyTally;
}

type Assault = (target: Target) => Promise<void>;

const CONNECTIONS = 16;
const SOCKETS = 8;
const SUBSCRIPTIONS_PER_SOCKET = 32;
const OPERATIONS_PER_SOCKET = 12;
const UNREAD_CONNECTIONS = 100;
const PIPELINED = 3;
const PAUSE_MS = 10;
const REST_MS = 100;
/** Of whole documents, and not of a field that failed. */
const REFUSALS =
  /QUERY_TOO_COMPLEX|GRAPHQL_|RATE_LIMITED|PAYLOAD_TOO_LARGE|UNAUTHENTICATED|cut off/;

/** Sends a document in the way of its kind that does most harm, until the signal aborts. */
export const ASSAULTS: Readonly<Record<Kind, Assault>> = {
  nobody: ({ signal }) => over(signal),
  query: oneByOne,
  event: subscribed,
  unread,
  many,
};

/** Counts the answers by their codes. */
export class ReplyTally {
  readonly #counts = new Map<string, number>();

  add(what: string, count: number): void {
    if (count > 0) this.#counts.set(what, (this.#counts.get(what) ?? 0) + count);
  }

  toString(): string {
    return [...this.#counts].map(([what, count]) => `${what} × ${count}`).join(', ') || 'none';
  }
}

async function oneByOne(target: Target): Promise<void> {
  using client = openHostileClient(target.account);
  await again(target, () => client.post(target.write(), target.signal));
}

async function subscribed({ account, write, signal, replies }: Target): Promise<void> {
  using sockets = new DisposableStack();
  const open: Awaited<ReturnType<typeof openHostileSocket>>[] = [];
  while (open.length < SOCKETS && !signal.aborted) {
    const socket = sockets.use(await openHostileSocket(account));
    open.push(socket);
    replies.add('subscriptions', SUBSCRIPTIONS_PER_SOCKET);
    for (let at = 0; at < SUBSCRIPTIONS_PER_SOCKET; at += 1) {
      // A subscription that completes before its time was refused.
      void socket.run(write(), true).then((reply) => {
        if (!signal.aborted) replies.add(nameOf(reply), 1);
      });
    }
  }
  await over(signal);
  for (const { events } of open) replies.add('events', events());
}

async function unread(target: Target): Promise<void> {
  using opened = new DisposableStack();
  await Promise.all([unreadSockets(target, opened), unreadConnections(target, opened)]);
  await over(target.signal);
}

async function unreadSockets(
  { account, write, signal, replies }: Target,
  opened: DisposableStack,
): Promise<void> {
  for (let at = 0; at < SOCKETS && !signal.aborted; at += 1) {
    const socket = opened.use(await openHostileSocket(account));
    socket.pause();
    for (let sent = 0; sent < SUBSCRIPTIONS_PER_SOCKET; sent += 1) void socket.run(write());
    replies.add('unread on sockets', SUBSCRIPTIONS_PER_SOCKET);
  }
}

async function unreadConnections(target: Target, opened: DisposableStack): Promise<void> {
  for (let at = 0; at < UNREAD_CONNECTIONS && !target.signal.aborted; at += 1) {
    opened.adopt(askAndLeave(target), (socket) => socket.destroy());
    target.replies.add('unread on connections', PIPELINED);
    await delay(PAUSE_MS);
  }
}

function askAndLeave({ account: { port, token }, write }: Target) {
  const socket = connect({ host: '127.0.0.1', port });
  socket.on('error', () => {});
  socket.pause();
  for (let sent = 0; sent < PIPELINED; sent += 1) {
    socket.write(postBytes('/graphql', headersOf(token), bodyOf(write())));
  }
  return socket;
}

async function many(target: Target): Promise<void> {
  const { account, write, signal } = target;
  using opened = new DisposableStack();
  const client = opened.use(openHostileClient(account));
  const asking: Promise<void>[] = Array.from({ length: CONNECTIONS }, () =>
    again(target, () => client.post(write(), signal)),
  );
  for (let at = 0; at < SOCKETS && !signal.aborted; at += 1) {
    const socket = opened.use(await openHostileSocket(account));
    signal.addEventListener('abort', () => socket.complete());
    for (let operation = 0; operation < OPERATIONS_PER_SOCKET; operation += 1) {
      asking.push(again(target, () => socket.run(write())));
    }
  }
  await Promise.all(asking);
}

/**
 * Sends the next as soon as the one before is answered; after a refused one it pauses. The one under way when
 * the time is over counts as unanswered: the worst documents may leave nothing else to count.
 */
async function again({ signal, replies }: Target, ask: () => Promise<HostileReply>): Promise<void> {
  while (!signal.aborted) {
    const reply = await ask();
    if (signal.aborted) return replies.add('unanswered', 1);
    replies.add(nameOf(reply), 1);
    if (REFUSALS.test(nameOf(reply))) await delay(REST_MS, null, { signal }).catch(() => {});
  }
}

function nameOf({ status, codes }: HostileReply): string {
  return codes.join(' and ') || (status === 0 ? 'cut off' : String(status));
}

async function over(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}
