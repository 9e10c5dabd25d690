import { setTimeout as delay } from 'node:timers/promises';
import { ProcessEndedError } from '../probed-process.ts';
import { HostileClient, type HostileReply, isRefused, NO_REPLY } from './hostile-client.ts';
import type { HostileDocument } from './hostile-document.ts';
import type { HostileFacade } from './hostile-facade.ts';
import { HostileSocket } from './hostile-socket.ts';
import { type Kind, type Measured, PLANS } from './kinds.ts';
import { ResidentWatch } from './resident-watch.ts';

/** The same document under another name each time, so that no cache serves it again. */
export type Write = () => HostileDocument;

export interface Trial extends Measured {
  /** `stuck`: the process ended over it, or did not come back within the time of a trial. */
  readonly verdict: 'allowed' | 'refused' | 'stuck';
  readonly codes: readonly string[];
  readonly harm: number;
}

interface Subject extends AsyncDisposable {
  readonly facade: HostileFacade;
  readonly client: HostileClient;
}

const LONGEST_MS = 3_000;
const ENOUGH_EVENTS_MS = 250;
const AT_ONCE = 2;
const EVENTS = 2;
/** A facade on which documents are tried one by one; another is started when one does not survive. */
export class TrialGround implements AsyncDisposable {
  readonly #start: () => Promise<HostileFacade>;
  readonly #token: string;
  #subject: Subject | null = null;

  constructor(token: string, start: () => Promise<HostileFacade>) {
    this.#token = token;
    this.#start = start;
  }

  async read(document: string): Promise<unknown> {
    const { facade } = await this.#ready();
    return facade.read(document);
  }

  async try(kind: Kind, write: Write): Promise<Trial> {
    const subject = await this.#ready();
    const { process } = subject.facade;
    const startedAtMs = performance.now();
    try {
      await process.ask({ ask: 'watch-delay' });
      const before = await process.ask({ ask: 'cpu' });
      const replies = await within(2 * LONGEST_MS, this.#exert(subject, kind, write));
      const { maxMs } = await within(LONGEST_MS, process.ask({ ask: 'delay' }));
      const used = (await process.ask({ ask: 'cpu' })) - before;
      return judge(kind, replies, { holdMs: maxMs, cpuMs: used / 1_000 / replies.length });
    } catch (reason) {
      if (!(reason instanceof ProcessEndedError || reason instanceof LateError)) throw reason;
      await this.#drop();
      const holdMs = performance.now() - startedAtMs;
      const measured = { holdMs, cpuMs: holdMs, bytes: 0, fields: 0 };
      return { ...measured, verdict: 'stuck', codes: [], harm: Number.POSITIVE_INFINITY };
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#drop();
  }

  async #exert(subject: Subject, kind: Kind, write: Write): Promise<HostileReply[]> {
    const signal = AbortSignal.timeout(LONGEST_MS);
    switch (kind) {
      case 'query':
      case 'unread':
        return [await subject.client.post(write(), signal)];
      case 'event':
        return this.#onSocket(subject, async (socket) => [await follow(socket, write)]);
      case 'many':
        return this.#onSocket(subject, (socket) => crowd(subject.client, socket, write, signal));
    }
  }

  /** A new one each time: an earlier document's operations on a socket must not count as this one's. */
  async #onSocket(
    { facade: { port } }: Subject,
    act: (socket: HostileSocket) => Promise<HostileReply[]>,
  ): Promise<HostileReply[]> {
    // Where the facade has closed its port, the next message to the process shows it.
    using socket = await HostileSocket.open({ port, token: this.#token }).catch(() => null);
    return socket ? await act(socket) : [NO_REPLY];
  }

  async #ready(): Promise<Subject> {
    if (this.#subject && !this.#subject.facade.process.hasEnded) return this.#subject;
    await this.#drop();
    await using opened = new AsyncDisposableStack();
    const facade = opened.use(await this.#start());
    opened.use(new ResidentWatch(facade.process));
    const client = opened.use(new HostileClient({ port: facade.port, token: this.#token }));
    const resources = opened.move();
    const dispose = () => resources.disposeAsync();
    this.#subject = { facade, client, [Symbol.asyncDispose]: dispose };
    return this.#subject;
  }

  async #drop(): Promise<void> {
    await this.#subject?.[Symbol.asyncDispose]();
    this.#subject = null;
  }
}

async function follow(socket: HostileSocket, write: Write): Promise<HostileReply> {
  // The market moves all the time, so a subscriber's next event comes soon.
  const enough = setInterval(() => socket.complete(1), ENOUGH_EVENTS_MS);
  const giveUp = setTimeout(() => socket.complete(), LONGEST_MS);
  try {
    return await socket.run(write(), EVENTS);
  } finally {
    clearInterval(enough);
    clearTimeout(giveUp);
  }
}

async function crowd(
  client: HostileClient,
  socket: HostileSocket,
  write: Write,
  signal: AbortSignal,
): Promise<HostileReply[]> {
  signal.addEventListener('abort', () => socket.complete(), { once: true });
  const all = Array.from({ length: AT_ONCE }, () => [
    client.post(write(), signal),
    socket.run(write()),
  ]);
  return Promise.all(all.flat());
}

function judge(
  kind: Kind,
  replies: readonly HostileReply[],
  times: Pick<Measured, 'holdMs' | 'cpuMs'>,
): Trial {
  const codes = [...new Set(replies.flatMap((reply) => reply.codes))];
  const measured = {
    ...times,
    bytes: Math.max(...replies.map(({ bytes }) => bytes)),
    fields: Math.max(...replies.map(({ fields }) => fields)),
  };
  const harm = PLANS[kind].harm(measured) + sizePoints(measured);
  return replies.some(isRefused)
    ? { ...measured, codes, verdict: 'refused', harm: 0 }
    : { ...measured, codes, verdict: 'allowed', harm };
}

/** Among small answers all delays are noise: there the larger answer is nearer to something worse. */
function sizePoints({ fields }: Measured): number {
  return Math.sqrt(fields) / 10;
}

class LateError extends Error {}

/** Rejects where it takes longer. */
export async function within<T>(ms: number, promise: Promise<T>): Promise<T> {
  const timer = new AbortController();
  const late = delay(ms, null, { signal: timer.signal }).then(() => {
    throw new LateError(`it took more than ${ms} ms`);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    timer.abort();
    late.catch(() => {});
  }
}
