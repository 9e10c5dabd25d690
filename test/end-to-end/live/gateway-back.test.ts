import { expect, test } from 'vitest';
import type { Fault } from '../../../src/sandbox/faults.ts';
import { startTestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { scrape } from '../operations/scraped.ts';
import { closeAfterEachTest } from './close-after-each-test.ts';
import { webSocketClient } from './watcher.ts';

const DEMO = { email: 'demo@example.com' };
const PRO = { email: 'pro@example.com' };
const PRO_LOGIN = 700_002;
/** Polls so rare that only the answer to another account can resume them during the test. */
const RARE_POLLS = { POSITIONS_POLL_MS: '3600000' };
const opened = closeAfterEachTest();

test.each<[string, Omit<Fault, 'operation'>]>([
  ['429s', { kind: 'status', status: 429 }],
  ['garbage', { kind: 'garbage' }],
])(
  'after %s an answer to any account resumes the polls of all accounts that have no Retry-After',
  async (_, fault) => {
    await using app = await startTestApp(RARE_POLLS);
    const operation = 'getOpenPositions';
    const retryLater = { kind: 'status', status: 429, headers: { 'retry-after': '3600' } } as const;
    app.sandbox.fail({ operation, ...retryLater, login: PRO_LOGIN });
    app.sandbox.fail({ operation, ...fault });
    const [demo, pro] = [DEMO, PRO].map((user) =>
      opened(webSocketClient(app, app.sandbox.token(user))).watch(),
    );
    const pollCount = async () => {
      const { series } = await scrape(app);
      const polls =
        /^trading_graph_gateway_calls_total\{operation="getOpenPositions",origin="poll",outcome="/;
      return [...series].reduce((sum, [name, value]) => sum + (polls.test(name) ? value : 0), 0);
    };
    await eventually(async () => expect(await pollCount()).toBe(2), pro?.whileOpen);
    app.sandbox.clearFaults();
    const before = app.sandbox.calls(operation, PRO_LOGIN);
    const token = app.sandbox.token({ email: 'fresh@example.com' });
    await app.query('{ positions { id } }', { token });
    await eventually(() => expect(demo?.last?.status).toBe('LIVE'), demo?.whileOpen);
    expect(app.sandbox.calls(operation, PRO_LOGIN)).toBe(before);
  },
);
