import { expect, test } from 'vitest';
import { startHostileFacade } from '../../bench/support/hostile/hostile-facade.ts';
import { startHostileGateway } from '../../bench/support/hostile/hostile-gateway.ts';
import { TrialGround } from '../../bench/support/hostile/trial-ground.ts';
import type { ProbedProcess } from '../../bench/support/probed-process.ts';

const HELD = 7;
const written = (text: string) => () => ({ text, variables: {} });

test('a document is tried on a facade, and on another one where that does not survive', async () => {
  await using gateway = await startHostileGateway({ instruments: 50, positions: HELD, tickMs: 50 });
  const started: ProbedProcess[] = [];
  await using ground = new TrialGround(gateway.hostile, async () => {
    const facade = await startHostileFacade(gateway, { MAX_DEPTH: '3' });
    started.push(facade.process);
    return facade;
  });

  // A load user of the sandbox begins with five positions and one order.
  const list = written('{ positions { symbol } orders { id } }');
  const fields = 1 + 2 + (HELD + 5) + (HELD + 1);
  for (const kind of ['query', 'unread', 'many'] as const) {
    const allowed = await ground.try(kind, list);
    expect(allowed, kind).toMatchObject({ verdict: 'allowed', codes: [] });
    expect(allowed.fields, kind).toBeGreaterThanOrEqual(fields);
    expect(allowed.harm, kind).toBeGreaterThan(0);
  }
  const events = await ground.try('event', written('subscription { positions { priceCurrent } }'));
  expect(events.fields).toBeGreaterThan(HELD + 5);
  expect(events.verdict).toBe('allowed');

  const deep = written('{ positions { instrument { positions { instrument { id } } } } }');
  const refused = await ground.try('query', deep);
  expect(refused).toMatchObject({ verdict: 'refused', codes: ['QUERY_TOO_COMPLEX'], harm: 0 });
  expect(started).toHaveLength(1);

  const ended = await ground.try('query', () => {
    void started[0]?.[Symbol.asyncDispose]();
    return list();
  });
  expect(ended.verdict).toBe('stuck');
  expect((await ground.try('query', list)).verdict).toBe('allowed');
  expect(started).toHaveLength(2);
});
