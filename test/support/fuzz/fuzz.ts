import { connect } from 'node:net';
import { createRandom } from '../../../sandbox/random.ts';
import { type FacadeProcess, startFacadeProcess } from '../facade-process.ts';
import { loopbackAddress } from '../loopback-address.ts';
import { rawPost } from '../raw-request.ts';
import { TARGETS, type Target, writesOf } from './cases.ts';
import { type CorruptGateway, emailOf, startCorruptGateway, tokenOf } from './corrupt-gateway.ts';

export interface FuzzOptions {
  readonly seed: number;
  /** Of each target. */
  readonly cases: number;
  /** In place of all: this one alone. */
  readonly only?: Case | undefined;
}

export interface Case {
  readonly target: Target;
  readonly index: number;
}

export interface FuzzReport {
  /** What was sent, and what came of it: statuses and codes. */
  readonly counts: ReadonlyMap<string, number>;
  readonly problem: string | null;
  /** The case that has the problem by itself; where none has, those that were sent last. */
  readonly cases: readonly Case[];
}

const WORKERS = { documents: 2, framing: 4, websocket: 4, gateway: 8 };
const LOOKS_EVERY = 20;
const REPLAYED = 64;
/** Long, for a machine that is busy. */
const CLOSES_WITHIN_MS = 60_000;
const QUIET_MS = { documents: 2_000, framing: 60, websocket: 60, gateway: 2_000 };
// The events of a subscription have no end.
const LASTS_MS = { documents: 500, framing: 500, websocket: 500, gateway: 1_000 };
const SETTINGS = {
  NODE_ENV: 'production',
  INTROSPECTION: 'on',
  LOG_SAMPLE: '0',
  ORDER_STORE: 'memory',
  ORDER_RECORDS_PER_ACCOUNT: '100000',
  GATEWAY_TIMEOUT_MS: '500',
  ORDER_TIMEOUT_MS: '600',
  CATALOG_TIMEOUT_MS: '600',
  POSITIONS_POLL_MS: '100',
  RATE_LIMIT_PER_MINUTE: '1000000000',
  LOGIN_LIMIT_PER_MINUTE: '1000000000',
  COST_LIMIT_PER_MINUTE: '1000000000000',
};

/** Sends cases that follow from the seed to a process of the facade, until something is wrong or all are sent. */
export async function fuzz({ seed, cases, only }: FuzzOptions): Promise<FuzzReport> {
  await using gateway = await startCorruptGateway(seed);
  await using facade = await startFacadeProcess({ ...SETTINGS, GATEWAY_URL: gateway.url });
  const run = new FuzzRun(facade, gateway, seed);
  if (only) await run.send(only);
  else await run.sendAll(cases);
  await run.look();
  const { counts, problem } = run;
  counts.set('corrupt answers', gateway.corrupted);
  if (problem === null) return { counts, problem, cases: [] };
  return { counts, problem, cases: only ? [only] : await run.narrowed() };
}

class FuzzRun {
  readonly #facade: FacadeProcess;
  readonly #gateway: CorruptGateway;
  readonly #seed: number;
  readonly #sent: Case[] = [];
  /** The case whose own answer is wrong. */
  #suspect: Case | null = null;
  #linesRead = 0;
  readonly counts = new Map<string, number>();
  problem: string | null = null;

  constructor(facade: FacadeProcess, gateway: CorruptGateway, seed: number) {
    this.#facade = facade;
    this.#gateway = gateway;
    this.#seed = seed;
  }

  async sendAll(cases: number): Promise<void> {
    const workers = TARGETS.flatMap((target) => {
      const indices = Array(cases).keys();
      return Array.from({ length: WORKERS[target] }, async () => {
        for (const index of indices) {
          if (this.problem !== null) return;
          await this.send({ target, index });
          if (index % LOOKS_EVERY === 0) await this.look();
        }
      });
    });
    await Promise.all(workers);
  }

  /** Writes a case, and leaves once the server is silent. */
  async send({ target, index }: Case): Promise<void> {
    this.#sent.push({ target, index });
    this.#count(target);
    const answered = await this.#exchange({ target, index });
    const blame = (problem: string) => {
      this.problem ??= problem;
      this.#suspect ??= { target, index };
    };
    if (answered === null) blame('a connection is not closed');
    for (const [what] of answered?.matchAll(/(?<=^HTTP\/1\.1 )\d+|(?<="code":")[A-Z_]+/gm) ?? []) {
      this.#count(what);
      if (what !== 'INTERNAL') continue;
      this.#suspect ??= { target, index };
      // The log has its cause.
      await this.look();
      blame(answered ?? '');
    }
  }

  /** Looks whether the process serves others, and what it has logged. */
  async look(): Promise<void> {
    const { logged, url } = this.#facade;
    const answer = await rawPost(`${url}/graphql`, '{"query":"{ __typename }"}').catch(String);
    const wrong = logged
      .slice(this.#linesRead)
      .filter((line) => !line.startsWith('{') || /"level":"fatal"|"INTERNAL"/.test(line));
    if (wrong.length > 0) this.problem ??= wrong.join('\n');
    if (!Object(answer).text?.includes('"Query"')) {
      this.problem ??= `a bystander is answered ${JSON.stringify(answer)}`;
    }
    this.#linesRead = logged.length;
  }

  /** Repeats the last cases one by one, each before a process that works. */
  async narrowed(): Promise<readonly Case[]> {
    const last = this.#sent.slice(-REPLAYED).reverse();
    const suspects = this.#suspect ? [this.#suspect, ...last] : last;
    for (const each of suspects) {
      if (this.problem !== null) {
        await this.#facade.kill();
        await this.#facade.start();
      }
      this.#linesRead = this.#facade.logged.length;
      this.problem = null;
      this.#gateway.beginAnew();
      await this.send(each);
      await this.look();
      if (this.problem !== null) return [each];
    }
    return suspects;
  }

  #exchange({ target, index }: Case): Promise<string | null> {
    const random = createRandom(`${this.#seed}/${target}/${index}`);
    const emails = ['demo@example.com', 'pro@example.com', 'fresh@example.com'];
    const isOwn = target === 'gateway';
    const tokens = isOwn ? [tokenOf(index)] : [...emails.map(this.#gateway.token), 'x.y.z', 'x'];
    const email = isOwn ? emailOf(index) : 'demo@example.com';
    const writes = writesOf[target]({ random, tokens, email });
    const { promise, resolve } = Promise.withResolvers<string | null>();
    const port = Number(new URL(this.#facade.url).port);
    const localAddress = loopbackAddress(index);
    const socket = connect({ host: '127.0.0.1', port, localAddress, noDelay: true });
    let answered = '';
    const leaves = setTimeout(() => socket.end(), LASTS_MS[target]);
    const late = setTimeout(() => resolve(null), CLOSES_WITHIN_MS);
    socket.setTimeout(QUIET_MS[target], () => socket.end());
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      answered += chunk.toString('latin1');
    });
    socket.once('close', () => {
      clearTimeout(leaves);
      clearTimeout(late);
      resolve(answered);
    });
    for (const bytes of writes) socket.write(bytes);
    return promise;
  }

  #count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }
}
