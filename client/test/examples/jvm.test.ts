import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { describeWithJdk } from '../../../test/support/describe-with.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { ownApp } from '../../../test/support/shared-app.ts';
import { startedForEach } from '../../../test/support/started.ts';
import { startCutProxy } from '../support/cut-proxy.ts';
import { endPrograms, type Program, startProgram } from '../support/example-process.ts';

const EXAMPLE = join(import.meta.dirname, '../../../examples/jvm');
const SOURCE = join(EXAMPLE, 'Ticker.java');
const VECTORS = join(import.meta.dirname, '../../vectors');

let folder: string;
let orders: string;

describeWithJdk('the client of the JDK alone', (javacPath) => {
  const app = ownApp({ POSITIONS_POLL_MS: '100', LOGIN_LIMIT_PER_MINUTE: '1000' });
  const line = startedForEach(() => startCutProxy(app.url));
  const java = join(dirname(javacPath), 'java');

  function start(environment: Readonly<Record<string, string>> = {}, from = ['Ticker']): Program {
    const args = ['-Xmx64m', '-XX:TieredStopAtLevel=1', '-cp', folder, ...from];
    const own = { TRADING_GRAPH_URL: `${line.url}/graphql`, TRADING_GRAPH_ORDERS: orders };
    return startProgram(java, args, { ...own, ...environment });
  }

  async function startLive(environment: Readonly<Record<string, string>> = {}): Promise<Program> {
    const ticker = start(environment);
    await eventually(() => expect(ticker.out).toContain('LIVE'), ticker.whileOpen);
    return ticker;
  }

  const kept = () => readdirSync(orders).filter((name) => name.endsWith('.json'));

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'jvm-'));
    const { status, stderr } = spawnSync(
      javacPath,
      ['-Xlint:all,-serial', '-d', folder, SOURCE, join(EXAMPLE, 'Vectors.java')],
      { encoding: 'utf8' },
    );
    expect(stderr).toBe('');
    expect(status).toBe(0);
  });
  afterAll(() => rmSync(folder, { recursive: true }));
  beforeEach(() => {
    orders = mkdtempSync(join(folder, 'orders-'));
  });
  afterEach(endPrograms);

  test('it obeys each vector that is for it', async () => {
    const vectors = start({}, ['Vectors', VECTORS]);
    expect(await vectors.ended, vectors.err).toEqual([0, null]);
    expect(vectors.err).toMatch(/^\{failed=0, not for this client=\d+, played=1\d\d\}\n$/);
  });

  test('it runs from its source, follows the positions, and goes on from the last event after a lost line', async () => {
    const ticker = start({}, [SOURCE]);
    await eventually(() => expect(ticker.out).toMatch(/LIVE \S+Z 6 positions/), ticker.whileOpen);
    app.sandbox.putPrice('AAPL', 230);
    await eventually(() => expect(ticker.out).toMatch(/AAPL BUY \S+ at 230\.0/), ticker.whileOpen);
    // The JDK's sockets are not packed.
    expect([line.packedStreams, line.upgrades]).toEqual([1, 0]);
    await line.refuse();
    await eventually(() => expect(ticker.out).toContain('OFFLINE, as of 20'), ticker.whileOpen);
    ticker.news();
    app.sandbox.putPrice('AAPL', 231);
    await line.heal();
    await eventually(() => expect(ticker.out).toMatch(/AAPL BUY \S+ at 231\.0/), ticker.whileOpen);
    // One row came, and no snapshot of all.
    expect(ticker.news().match(/ at \d/g)).toHaveLength(1);
    // Below its stop-loss.
    app.sandbox.putPrice('AAPL', 150);
    await eventually(() => expect(ticker.out).toMatch(/position \d+ closed/), ticker.whileOpen);
    await eventually(() => expect(ticker.out).toMatch(/LIVE \S+Z 5 positions/), ticker.whileOpen);
    expect(ticker.err).toBe('');
  });

  test('an order is placed once, also where its answer is lost', async () => {
    const ticker = await startLive();
    ticker.type('buy NOTHING 1');
    await eventually(() => expect(ticker.out).toContain('order: refused'), ticker.whileOpen);
    ticker.type('buy AAPL -1');
    await eventually(() => expect(ticker.out).toContain('order: not placed'), ticker.whileOpen);
    expect(kept()).toEqual([]);
    app.sandbox.clearCalls();
    app.sandbox.fail({ operation: 'openPosition', kind: 'delay', delayMs: 1_000, times: 1 });
    ticker.type('buy AAPL 1');
    await eventually(() => expect(app.sandbox.calls('openPosition')).toBe(1));
    // It was kept before it was sent.
    const [name = ''] = kept();
    expect(readFileSync(join(orders, name), 'utf8')).toContain('"sendBefore":"20');
    line.cut();
    await eventually(() => expect(ticker.out).toContain('order: no answer yet'), ticker.whileOpen);
    await eventually(() => expect(ticker.out).toContain('order: done'), ticker.whileOpen);
    await eventually(() => expect(ticker.out).toMatch(/LIVE \S+Z 7 positions/), ticker.whileOpen);
    expect(app.sandbox.calls('openPosition')).toBe(1);
    expect(app.sandbox.orders()).toHaveLength(1);
    expect(kept()).toEqual([]);
  });

  test('an order that a killed program left is known to the next one of its account, also where the gateway leaves it open', async () => {
    const ticker = await startLive();
    app.sandbox.fail({ operation: 'openPosition', kind: 'delay', delayMs: 1_000, times: 1 });
    ticker.type('buy AAPL 1');
    await eventually(() => expect(app.sandbox.calls('openPosition')).toBe(1));
    await ticker.kill('SIGKILL');
    expect(kept()).toHaveLength(1);
    const other = await startLive({ TRADING_GRAPH_EMAIL: 'pro@example.com' });
    expect(kept()).toHaveLength(1);
    await other.kill('SIGKILL');
    const next = start();
    await eventually(() => expect(next.out).toContain('order: done'), next.whileOpen);
    expect(app.sandbox.orders()).toHaveLength(1);
    expect(kept()).toEqual([]);
    const isOpen = 'order: sent, and it may have been carried out';
    app.sandbox.fail({ operation: 'openPosition', kind: 'reset-after', times: 1 });
    next.type('buy AAPL 1');
    await eventually(() => expect(next.out).toContain(isOpen), next.whileOpen);
    expect(kept()).toHaveLength(1);
    await next.kill('SIGKILL');
    const last = start();
    await eventually(() => expect(last.out).toContain(isOpen), last.whileOpen);
    expect(app.sandbox.calls('openPosition')).toBe(2);
  });
});
