/**
 * Measures connections that clients keep open between requests: memory and CPU of each, beside a listener that
 * does nothing, and how long the process takes to close them all.
 * `npm run bench -- connections [--count 5000] [--quick]` prints Markdown.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { freePort } from '../test/support/free-ports.ts';
import { accepting } from './support/accepting.ts';
import { AnswerReader } from './support/answer-reader.ts';
import { CONTESTANT_CORE, pinOwnProcess } from './support/cores.ts';
import { table } from './support/markdown.ts';
import { ProbedProcess } from './support/probed-process.ts';
import { median } from './support/statistics.ts';

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '5000' },
    quick: { type: 'boolean', default: false },
  },
});
const count = Number(values.count);
const [settleMs, idleMs] = values.quick ? [500, 2_000] : [2_000, 10_000];
const AT_ONCE = 50;
// What is made once, and buffers that the first burst needs, do not count.
const FIRST = 200;
const BODY = JSON.stringify({ query: '{ __typename }' });
const REQUEST = `POST /graphql HTTP/1.1\r\nhost: bench\r\ncontent-type: application/json\r\naccept: application/json\r\ncontent-length: ${BODY.length}\r\n\r\n${BODY}`;

pinOwnProcess();
const rows = [];
for (const [name, script] of [
  ['ours', '../src/main.ts'],
  ['a bare listener', 'contestants/bare-listener.ts'],
] as const) {
  rows.push([name, ...(await measureIdle(script))]);
}
const head = ['resident, each', 'heap, each', 'CPU while idle', 'CPU to open and ask, each'];
const closing = ['CPU to close, each', 'longest hold while they close'];
console.log(table([`${count} idle connections`, ...head, ...closing], rows));
process.exit(0);

async function measureIdle(script: string): Promise<string[]> {
  const port = await freePort();
  await using child = new ProbedProcess({
    script: fileURLToPath(new URL(script, import.meta.url)),
    core: CONTESTANT_CORE,
    nodeFlags: ['--expose-gc'],
    environment: {
      NODE_ENV: 'production',
      PORT: String(port),
      ADMIN_PORT: '0',
      ORDER_STORE: 'memory',
      LOG_LEVEL: 'warn',
      RATE_LIMIT_PER_MINUTE: '1000000000',
      GATEWAY_URL: 'http://127.0.0.1:9',
    },
  });
  await accepting(child, port);
  const sockets = await open(port, FIRST);
  const before = await held(child);
  const cpuBefore = await child.ask({ ask: 'cpu' });
  sockets.push(...(await open(port, count)));
  const cpuOpen = await child.ask({ ask: 'cpu' });
  const after = await held(child);
  const shares: number[] = [];
  for (let part = 0; part < 5; part += 1) {
    const cpu = await child.ask({ ask: 'cpu' });
    await delay(idleMs / 5);
    shares.push(((await child.ask({ ask: 'cpu' })) - cpu) / (idleMs / 5) / 10);
  }
  await child.ask({ ask: 'watch-holds' });
  const cpuIdle = await child.ask({ ask: 'cpu' });
  for (const socket of sockets) socket.destroy();
  await delay(settleMs);
  const cpuClosed = await child.ask({ ask: 'cpu' });
  const { holdsMs } = await child.ask({ ask: 'holds' });
  const kilobytes = (bytes: number) => `${(bytes / count / 1024).toFixed(1)} kB`;
  return [
    kilobytes(after.resident - before.resident),
    kilobytes(after.heap - before.heap),
    `${median(shares).toFixed(2)} % of a core`,
    `${((cpuOpen - cpuBefore) / count).toFixed(0)} µs`,
    `${((cpuClosed - cpuIdle) / sockets.length).toFixed(0)} µs`,
    `${(holdsMs[0] ?? 0).toFixed(0)} ms`,
  ];
}

/** Connections that have each had one answer. */
async function open(port: number, wanted: number): Promise<Socket[]> {
  const sockets: Socket[] = [];
  while (sockets.length < wanted) {
    const some = Math.min(AT_ONCE, wanted - sockets.length);
    sockets.push(...(await Promise.all(Array.from({ length: some }, () => asked(port)))));
  }
  return sockets;
}

async function asked(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  await once(socket, 'connect');
  const reader = new AnswerReader();
  const answered = new Promise<void>((resolve) => {
    socket.on('data', (chunk: Buffer) => reader.take(chunk) && resolve());
  });
  socket.write(REQUEST);
  await answered;
  return socket;
}

async function held(child: ProbedProcess) {
  await delay(settleMs);
  const heap = await child.ask({ ask: 'heap' });
  return { heap, resident: await child.ask({ ask: 'memory' }) };
}
