import { HOME } from './support/documents.ts';
import type { Field } from './support/field.ts';
import { startGateway } from './support/gateway.ts';
import type { GatewayFault } from './support/gateway-process.ts';
import { table } from './support/markdown.ts';
import { measure, type Pace } from './support/measure.ts';
import { startOurs } from './support/start-contestants.ts';

const FAULTS: readonly (readonly [GatewayFault, string])[] = [
  ['status', 'answers 503'],
  ['reset', 'resets connections'],
];
const FAILURES_EACH = 10;

/** The CPU of a home screen while the gateway fails, beside a healthy one in turn. */
export async function outageTable(field: Field, pace: Pace): Promise<string> {
  const { surroundings, workloads, gateway } = field;
  const home = workloads.find(({ name }) => name === 'home');
  if (home === undefined) throw new Error('there is no home screen');
  const healthy = await startOurs(surroundings);
  await using _healthy = healthy.process;
  const rows: string[][] = [];
  for (const [fault, title] of FAULTS) {
    await using failing = await startGateway(surroundings.instruments, surroundings.tokens.length);
    const stricken = await startOurs({ ...surroundings, ...failing, gatewayUrl: failing.url });
    await using _stricken = stricken.process;
    // The catalog and the session are in memory when it begins.
    await stricken.ask(home.next());
    await failing.order({ fault });
    await openBreakers(stricken.port, failing.strangers);
    const figures = await measure(gateway, [healthy, stricken], home, pace);
    const [usual, outage] = [figures.get(healthy), figures.get(stricken)];
    if (!usual || !outage) throw new Error('nothing was measured');
    rows.push([
      title,
      `${usual.cpu.toFixed(0)} µs`,
      `${outage.cpu.toFixed(0)} µs`,
      outage.ratio.toFixed(2),
    ]);
  }
  return table(
    ['CPU of a home screen while the gateway …', 'healthy', 'in the outage', 'ratio'],
    rows,
  );
}

/** One account that fails opens no breaker, and all tokens of the load are one account's. */
async function openBreakers(port: number, strangers: readonly string[]): Promise<void> {
  const ask = async (token: string) => {
    const answer = await fetch(`http://127.0.0.1:${port}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({ query: HOME }),
    });
    await answer.text();
  };
  for (let time = 0; time < FAILURES_EACH; time += 1) await Promise.all(strangers.map(ask));
}
