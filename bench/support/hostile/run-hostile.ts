import { setTimeout as delay } from 'node:timers/promises';
import { startLiveGateway } from '../live-gateway.ts';
import { table } from '../markdown.ts';
import { ALONE, OURS } from '../ours.ts';
import { ProbedProcess } from '../probed-process.ts';
import { ASSAULTS, ReplyTally } from './assaults.ts';
import { type BystanderFigures, startBystander } from './bystander.ts';
import { openHostileClient } from './hostile-client.ts';
import { type Attack, NOBODY, writerOf } from './known-documents.ts';
import { watchResident } from './resident-watch.ts';

export interface HostileOptions {
  readonly attacks: readonly Attack[];
  /** Of the account that attacks: open positions in one symbol, and as many pending orders. */
  readonly positions: number;
  readonly instruments: number;
  /** The time for which each attack goes on. */
  readonly ms: number;
  /** Settings of the facade, in place of its defaults. */
  readonly settings: Readonly<Record<string, string>>;
}

type Harm = Awaited<ReturnType<typeof measureHarm>>;

const BYSTANDERS = 4;
const AT_ONCE = 20;
const TICK_MS = 100;
const QUIET_MS = 2_000;
const COMES_BACK_WITHIN_MS = 5_000;
// So little of it can be bought that any account can afford hundreds of positions.
const ORDER = { symbol: 'EURUSD', type: 'unit', amount: 1 } as const;
const NEVER_REACHED = 0.01;
/** Sent once by every account, so that tokens are proved, and catalog and code are cached. */
const WARM = '{ catalog { size } session { login } positions { id } orders { id } }';

/** Measures what each attack does to the others, each on a fresh process. */
export async function runHostile(options: HostileOptions) {
  const { attacks, positions, instruments, ms, settings } = options;
  await using gateway = await startLiveGateway({ instruments, tickMs: TICK_MS });
  const tokens = gateway.tokens(1 + BYSTANDERS, 1);
  const [hostile = ''] = tokens;
  for (let placed = 0; placed < positions; placed += AT_ONCE) {
    const some = Array.from({ length: Math.min(AT_ONCE, positions - placed) });
    const orders = some.flatMap(() => [ORDER, { ...ORDER, price: NEVER_REACHED }]);
    await Promise.all(orders.map((order) => gateway.buy(hostile, order)));
  }
  const harms: Harm[] = [];
  for (const attack of [NOBODY, ...attacks]) {
    await using facade = await startFacade({ GATEWAY_URL: gateway.url, ...settings }, tokens);
    const forMs = attack === NOBODY ? Math.min(QUIET_MS, ms) : ms;
    harms.push(await measureHarm(facade, tokens, attack, forMs));
  }
  return { harms, text: harmTable(harms) };
}

/** The program with its own defaults but for these settings, warm. */
async function startFacade(
  settings: Readonly<Record<string, string>>,
  tokens: readonly string[],
): Promise<ProbedProcess> {
  const facade = await ProbedProcess.listening({
    script: OURS,
    nodeFlags: ['--max-old-space-size=2048'],
    environment: { ...ALONE, LOG_LEVEL: 'error', ...settings },
  });
  for (const token of tokens) {
    using client = openHostileClient({ port: facade.port, token });
    const warm = { text: WARM, variables: {} };
    const { status } = await client.post(warm, AbortSignal.timeout(30_000));
    if (status !== 200) throw new Error(`the facade answers ${WARM} with ${status}`);
  }
  return facade;
}

/** Measures bystanders and the process during an attack. */
async function measureHarm(
  facade: ProbedProcess,
  [token = '', ...bystanders]: readonly string[],
  { name, kind, ...document }: Attack,
  ms: number,
) {
  const { port } = facade;
  using resident = watchResident(facade);
  await facade.ask({ ask: 'watch-holds' });
  await using cheap = startBystander(port, bystanders, '{ __typename }');
  await using personal = startBystander(port, bystanders, '{ positions { id } }');
  const replies = new ReplyTally();
  const signal = AbortSignal.timeout(ms);
  const write = writerOf(document);
  const attack = ASSAULTS[kind]({ account: { port, token }, write, signal, replies });
  // A server that hangs may also accept no more connections.
  const isOver = await within(
    ms + COMES_BACK_WITHIN_MS,
    attack.then(() => true),
  );
  const report = isOver ? String(replies) : 'cut off';
  const figures = { cheap: cheap.stop(), personal: personal.stop() };
  /** The longest hold of the event loop; null where it did not come back. */
  const holdMs = await within(COMES_BACK_WITHIN_MS, facade.ask({ ask: 'longest-hold' }));
  return {
    ...{ name, holdMs, ...figures, report },
    grownBytes: resident.grownBytes(),
    end: resident.isOver() ? 'took 4 GB' : facade.hasEnded ? 'ended' : 'alive',
  };
}

function harmTable(harms: readonly Harm[]): string {
  const latency = ({ p50Ms, p99Ms, failed }: BystanderFigures) =>
    `${p50Ms.toFixed(0)} / ${p99Ms.toFixed(0)}${failed > 0 ? `, ${failed} failed` : ''}`;
  const head = ['', 'longest hold of the event loop, ms', '`{ __typename }` p50 / p99, ms'];
  return table(
    [...head, '`{ positions { id } }` p50 / p99, ms', 'memory growth, MB', 'answers'],
    harms.map(({ name, holdMs, cheap, personal, grownBytes, end, report }) => [
      name,
      end === 'alive' ? (holdMs?.toFixed(0) ?? 'did not come back') : `the process ${end}`,
      latency(cheap),
      latency(personal),
      (grownBytes / 1_048_576).toFixed(0),
      report,
    ]),
  );
}

/** Null where it takes longer, or fails. */
async function within<T>(ms: number, promise: Promise<T>): Promise<T | null> {
  return await Promise.race([promise, delay(ms, null, { ref: false })]).catch(() => null);
}
