import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'undici';
import { eventually } from '../../test/support/eventually.ts';
import { HOME, POSITIONS, SEARCH } from './documents.ts';
import { QUERY } from './live-contestants.ts';
import { LiveCrowd } from './live-crowd.ts';
import type { LiveGateway } from './live-gateway.ts';
import { post } from './post.ts';
import { createTerms } from './terms.ts';

/** Work that comes in some windows and is counted there. */
export interface Unit {
  readonly name: string;
  /** Brings it into a window that begins, or keeps it out. */
  set?(comes: boolean): Promise<void> | void;
  /** Where it is requested: how often in a second of a window that has it, and what does it once. */
  readonly perSecond?: number;
  once?(): Promise<unknown>;
  /** Events of the window so far, where it is not requested. */
  events?(): number;
}

export interface CrowdSizes {
  /** Accounts that are polled in windows with polls, with a socket each. */
  readonly polled: number;
  /** More sockets of accounts that are polled anyway. */
  readonly more: number;
}

const CONNECTIONS = 64;
const SOCKETS_OF_ACCOUNT = 50;
const BUYERS = 200;

const LOGIN = `mutation ($email: String!) {
  login(input: { email: $email, password: "demo" }) { __typename ... on LoginSuccess { accessToken } }
}`;
const ORDER = `mutation ($key: String!) {
  placeOrder(input: { symbol: "AAPL", side: BUY, size: { amount: 10 }, idempotencyKey: $key }) { __typename }
}`;
const INSTRUMENTS = '{ instruments(first: 500) { nodes { symbol name } } }';

/** The units of the mix, in the order of the table, over 64 connections from as many addresses. */
export async function startUnits(port: number, gateway: LiveGateway, sizes: CrowdSizes) {
  const clients = Array.from(
    { length: CONNECTIONS },
    (_, at) =>
      new Client(`http://127.0.0.1:${port}`, { connect: { localAddress: `127.2.0.${at + 1}` } }),
  );
  const some = <T>(values: readonly T[]) => values[randomInt(values.length)] as T;
  const ask = async (token: string | null, query: string, variables = {}, expected = '') => {
    const { text } = await post(some(clients), token, { query, variables });
    if (!text.startsWith('{"data"') || text.includes('"errors"') || !text.includes(expected)) {
      throw new Error(text.slice(0, 500));
    }
    return text;
  };
  // The accounts of one unit are no other's: what an order changes, or a socket opens, costs the others nothing.
  let accounts = 0;
  const newToken = () => gateway.token(++accounts);
  const tokens = (count: number) => Array.from({ length: count }, newToken);
  const users = tokens(CONNECTIONS);
  const buyers = tokens(BUYERS);
  const seen: string[] = [];
  const { data } = JSON.parse(await ask(users[0] ?? '', INSTRUMENTS));
  const terms = createTerms(data.instruments.nodes);

  const polled = new LiveCrowd(port);
  await polled.connect(tokens(sizes.polled));
  const shared = tokens(Math.ceil(sizes.more / SOCKETS_OF_ACCOUNT));
  const steady = new LiveCrowd(port);
  await steady.connect(shared);
  await steady.subscribe(QUERY);
  const more = new LiveCrowd(port);
  const each = Math.ceil(sizes.more / shared.length);
  await more.connect(shared.flatMap((token) => Array.from({ length: each }, () => token)));

  const openSocket = async () => {
    const crowd = new LiveCrowd(port);
    await crowd.connect([some(seen)]);
    await crowd.subscribe(QUERY);
    crowd.close();
  };
  const firstScreen = async () => {
    const token = newToken();
    await ask(token, HOME);
    seen.push(token);
  };
  const search = () => ask(some(users), SEARCH, { term: terms.next() });
  const signIn = () =>
    ask(null, LOGIN, { email: `user-${++accounts}@example.com` }, 'LoginSuccess');
  // Refused until Redis is connected, and where it is late on a busy machine.
  const order = () =>
    eventually(() => ask(some(buyers), ORDER, { key: randomUUID() }, 'OrderAccepted'));
  await Promise.all([...Array.from({ length: CONNECTIONS }, firstScreen), order()]);
  const units: Unit[] = [
    { name: 'home screen', perSecond: 120, once: () => ask(some(users), HOME) },
    { name: 'first screen', perSecond: 60, once: firstScreen },
    { name: 'sign-in', perSecond: 120, once: signIn },
    { name: 'search', perSecond: 300, once: search },
    { name: 'positions, all fields', perSecond: 150, once: () => ask(some(users), POSITIONS) },
    { name: 'order', perSecond: 60, once: order },
    { name: 'socket that opens and subscribes', perSecond: 40, once: openSocket },
    crowdUnit('poll whose list has changed, with its event', polled),
    crowdUnit('event of one more socket', more),
  ];
  return {
    units,
    async [Symbol.asyncDispose]() {
      for (const crowd of [polled, steady, more]) crowd.close();
      await Promise.all(clients.map((client) => client.destroy()));
    },
  };
}

function crowdUnit(name: string, crowd: LiveCrowd): Unit {
  let isOn = false;
  return {
    name,
    async set(comes) {
      if (comes && !isOn) await crowd.subscribe(QUERY);
      if (!comes && isOn) crowd.unsubscribe();
      isOn = comes;
    },
    events: () => crowd.figures().events,
  };
}

/** Requests the units at random times of a window, so that they come in bursts as users do; resolves when all are answered. */
export async function request(
  units: readonly (Unit | null)[],
  windowMs: number,
  factor: number,
): Promise<number[]> {
  const counts = units.map((unit) =>
    Math.round(((unit?.perSecond ?? 0) * factor * windowMs) / 1000),
  );
  const due = units
    .flatMap((unit, at) =>
      Array.from({ length: counts[at] ?? 0 }, () => ({ unit, atMs: Math.random() * windowMs })),
    )
    .sort((one, other) => one.atMs - other.atMs);
  const beganMs = performance.now();
  const answers: (Promise<unknown> | undefined)[] = [];
  for (const { unit, atMs } of due) {
    const restMs = beganMs + atMs - performance.now();
    if (restMs > 0) await delay(restMs);
    const answer = unit?.once?.();
    // It is reported at the end of the window; before that nobody would be there for it.
    answer?.catch(() => {});
    answers.push(answer);
  }
  await Promise.all([...answers, delay(Math.max(0, beganMs + windowMs - performance.now()))]);
  return counts;
}
