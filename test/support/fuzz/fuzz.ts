import { connect } from 'node:net';
import { createRandom } from '../../../src/sandbox/random.ts';
import { startFacadeProcess } from '../facade-process.ts';
import { loopbackAddress } from '../loopback-address.ts';
import { rawPost } from '../raw-request.ts';
import { TARGETS, type Target, writesOf } from './cases.ts';
import { emailOf, startCorruptGateway } from './corrupt-gateway.ts';

export interface FuzzOptions {
  readonly seed: number;
  /** The number of cases of each target. */
  readonly cases: number;
  /** Runs only this case. */
  readonly only?: Case | undefined;
}

export interface Case {
  readonly target: Target;
  readonly index: number;
}

export interface FuzzReport {
  /** The statuses and codes of the answers, with their counts. */
  readonly counts: ReadonlyMap<string, number>;
  readonly problem: string | null;
  /** The case that causes the problem by itself; if there is none, the last cases. */
  readonly cases: readonly Case[];
}

const CASES_PER_CHECK = 20;
const REPLAYED_CASES = 64;
/** Long enough for a busy machine. */
const CLOSES_WITHIN_MS = 60_000;
/**
 * How many connections are used at a time, and when a connection is closed: after `quietMs` without an answer, and at the
 * latest after `lastsMs`, because the events of a subscription have no end.
 */
const PACE = {
  documents: { workers: 2, quietMs: 2_000, lastsMs: 500 },
  framing: { workers: 4, quietMs: 60, lastsMs: 500 },
  websocket: { workers: 4, quietMs: 60, lastsMs: 500 },
  gateway: { workers: 8, quietMs: 2_000, lastsMs: 1_000 },
};
const SETTINGS = {
  NODE_ENV: 'production',
  GRAPHIQL: 'on',
  LOG_SAMPLE: '0',
  ORDER_STORE: 'memory',
  ORDER_RECORDS_PER_ACCOUNT: '100000',
  GATEWAY_TIMEOUT_MS: '500',
  ORDER_TIMEOUT_MS: '600',
  POSITIONS_POLL_MS: '100',
  RATE_LIMIT_PER_MINUTE: '1000000000',
  LOGIN_LIMIT_PER_MINUTE: '1000000000',
};

/** Sends cases determined by the seed to a process of the service, until there is a problem or all are sent. */
export async function fuzz({ seed, cases, only }: FuzzOptions): Promise<FuzzReport> {
  await using gateway = await startCorruptGateway(seed);
  await using facade = await startFacadeProcess({ ...SETTINGS, GATEWAY_URL: gateway.url });
  const sent: Case[] = [];
  const counts = new Map<string, number>();
  const count = (name: string) => counts.set(name, (counts.get(name) ?? 0) + 1);
  let problem: string | null = null;
  let linesRead = 0;
  /** The case with the wrong answer. */
  let suspect: Case | null = null;

  /** Writes a case, and closes the connection once the server is silent. */
  async function send({ target, index }: Case): Promise<void> {
    sent.push({ target, index });
    count(target);
    // Each case of the gateway has an account of its own, which tells the gateway what to corrupt.
    const hasOwnAccount = target === 'gateway';
    const emails = ['demo@example.com', 'pro@example.com', 'fresh@example.com'];
    const sharedTokens = [...emails.map(gateway.token), 'x.y.z', 'x'];
    const writes = writesOf[target]({
      random: createRandom(`${seed}/${target}/${index}`),
      tokens: hasOwnAccount ? [gateway.tokenOf(index)] : sharedTokens,
      email: hasOwnAccount ? emailOf(index) : 'demo@example.com',
    });
    const answer = await exchange(facade.url, { target, index }, writes);
    const statusOrCode = /(?<=^HTTP\/1\.1 )\d+|(?<="code":")[A-Z_]+/gm;
    for (const [name] of answer?.matchAll(statusOrCode) ?? []) count(name);
    const isExpected = answer !== null && !answer.includes('"code":"INTERNAL"');
    if (isExpected) return;
    suspect ??= { target, index };
    // The log has the cause, which says more than the answer.
    await check();
    problem ??= answer ?? 'a connection is not closed';
  }

  /** Checks the log, and whether the process still serves other clients. */
  async function check(): Promise<void> {
    const { logged, url } = facade;
    const answer = await rawPost(`${url}/graphql`, '{"query":"{ __typename }"}').catch(String);
    // A line that is no JSON is the output of a crash.
    const wrong = logged
      .slice(linesRead)
      .filter((line) => !line.startsWith('{') || /"level":"fatal"|"INTERNAL"/.test(line));
    if (wrong.length > 0) problem ??= wrong.join('\n');
    // After a failed request `answer` is a text, and has no property `text`.
    const isAnswered = Object(answer).text?.includes('"Query"');
    if (!isAnswered) problem ??= `another client is answered ${JSON.stringify(answer)}`;
    linesRead = logged.length;
  }

  async function sendAll(target: Target): Promise<void> {
    // All workers take their cases from this one iterator.
    const indices = Array(cases).keys();
    const work = async () => {
      for (const index of indices) {
        if (problem !== null) return;
        await send({ target, index });
        if (index % CASES_PER_CHECK === 0) await check();
      }
    };
    await Promise.all(Array.from({ length: PACE[target].workers }, work));
  }

  /** Repeats the last cases one by one, to find the case that causes the problem by itself. */
  async function findCause(): Promise<readonly Case[]> {
    const last = sent.slice(-REPLAYED_CASES).reverse();
    const suspects = suspect === null ? last : [suspect, ...last];
    for (const each of suspects) {
      // The process may have crashed or be stuck.
      if (problem !== null) {
        await facade.kill();
        await facade.start();
      }
      linesRead = facade.logged.length;
      problem = null;
      gateway.beginAnew();
      await send(each);
      await check();
      if (problem !== null) return [each];
    }
    return suspects;
  }

  if (only) await send(only);
  else await Promise.all(TARGETS.map(sendAll));
  await check();
  counts.set('corrupt answers', gateway.corrupted);
  // findCause() sets `problem` again.
  const found: string | null = problem;
  if (found === null) return { counts, problem: null, cases: [] };
  return { counts, problem: found, cases: only ? [only] : await findCause() };
}

/** Sends the buffers, and returns the answer; null if the server never closes the connection. */
function exchange(
  url: string,
  { target, index }: Case,
  writes: readonly Buffer[],
): Promise<string | null> {
  const { promise, resolve } = Promise.withResolvers<string | null>();
  const { quietMs, lastsMs } = PACE[target];
  const localAddress = loopbackAddress(index);
  const port = Number(new URL(url).port);
  const socket = connect({ host: '127.0.0.1', port, localAddress, noDelay: true });
  let answered = '';
  const endTimer = setTimeout(() => socket.end(), lastsMs);
  const giveUpTimer = setTimeout(() => resolve(null), CLOSES_WITHIN_MS);
  socket.setTimeout(quietMs, () => socket.end());
  socket.on('error', () => {});
  socket.on('data', (chunk) => {
    answered += chunk.toString('latin1');
  });
  socket.once('close', () => {
    clearTimeout(endTimer);
    clearTimeout(giveUpTimer);
    resolve(answered);
  });
  for (const bytes of writes) socket.write(bytes);
  return promise;
}
