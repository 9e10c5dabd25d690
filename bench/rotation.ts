/**
 * Measures what users who come again in turn cost: gateway calls and CPU of a home screen in the second round, and
 * the memory. `node bench/rotation.ts [--users 500,5000] [--perSecond 500] [--source <folder>]` prints Markdown.
 */
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { freePort } from '../test/support/free-ports.ts';
import { BareProcess } from './support/bare-process.ts';
import { pinOwnProcess } from './support/cores.ts';
import { startGateway } from './support/gateway.ts';
import { table } from './support/markdown.ts';
import { tokensLike } from './support/personal-answer.ts';
import { firstScreens } from './support/resident.ts';

const { values } = parseArgs({
  options: {
    users: { type: 'string', default: '500,1500,5000,20000,50000' },
    perSecond: { type: 'string', default: 'Infinity' },
    source: { type: 'string', multiple: true, default: [join(import.meta.dirname, '..')] },
  },
});
const crowds = values.users.split(',').map(Number);
const perSecond = Number(values.perSecond);

pinOwnProcess();
await using gateway = await startGateway(5_000, 1, { personal: true });
await gateway.order({ market: 'moving' });
const tokens = tokensLike(gateway.tokens[0] ?? '', Math.max(...crowds));
const rows: string[][] = [];
for (const users of crowds) {
  for (const folder of values.source) rows.push(await measure(resolve(folder), users));
}
const titles = [
  'calls of the gateway a screen',
  'CPU a screen, µs',
  'screens a second',
  'resident, MB',
];
process.stdout.write(`${table(['', 'users', ...titles], rows)}\n`);

async function measure(folder: string, users: number): Promise<string[]> {
  await using started = await BareProcess.start(
    {
      name: 'ours',
      script: join(folder, 'src/main.ts'),
      endpoint: '/graphql',
      environment: {
        // What Node takes by itself in a container of 2 GiB.
        NODE_OPTIONS: '--max-old-space-size=1024',
        ADMIN_PORT: String(await freePort()),
        ORDER_STORE: 'memory',
        LOG_LEVEL: 'warn',
        SHUTDOWN_DELAY_MS: '0',
        TRUSTED_PROXIES: '127.0.0.1',
      },
    },
    gateway,
  );
  const url = `http://127.0.0.1:${started.port}/graphql`;
  const round = () => firstScreens(url, tokens, { from: 0, to: users, perSecond });
  const calls = async () => (await gateway.order({ tells: 'counts' })).calls;
  await round();
  const [callsBefore, cpuMs, startedAtMs] = [await calls(), started.cpuMs, performance.now()];
  await round();
  const seconds = (performance.now() - startedAtMs) / 1000;
  const cpuUs = ((started.cpuMs - cpuMs) * 1000) / users;
  return [
    folder,
    users.toLocaleString('en'),
    (((await calls()) - callsBefore) / users).toFixed(2),
    cpuUs.toFixed(0),
    (users / seconds).toFixed(0),
    started.residentMb.toFixed(0),
  ];
}
