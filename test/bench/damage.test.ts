import { expect, test } from 'vitest';
import { measureDamage } from '../../bench/support/hostile/damage.ts';
import { startHostileFacade } from '../../bench/support/hostile/hostile-facade.ts';
import { startHostileGateway } from '../../bench/support/hostile/hostile-gateway.ts';

test('the damage of a document is told by what bystanders and the process went through', async () => {
  await using gateway = await startHostileGateway({ instruments: 50, positions: 7, tickMs: 50 });
  await using facade = await startHostileFacade(gateway, { RATE_LIMIT_PER_MINUTE: '200' });
  const write = () => ({ text: '{ positions { symbol } }', variables: {} });

  const quiet = await measureDamage(facade, gateway, null, 1_000);
  expect(quiet).toMatchObject({ fate: 'alive', replies: 'none' });
  expect(quiet.bystander.asked).toBeGreaterThan(0);
  expect(quiet.bystander.failed).toBe(0);

  const busy = await measureDamage(facade, gateway, { kind: 'many', write }, 4_000);
  expect(busy.fate).toBe('alive');
  expect(busy.replies).toMatch(/200 × \d+/);
  expect(busy.replies).toContain('RATE_LIMITED × ');

  const deadly = () => {
    void facade.process[Symbol.asyncDispose]();
    return write();
  };
  const ended = await measureDamage(facade, gateway, { kind: 'query', write: deadly }, 300);
  expect(ended.fate).toBe('ended');
  expect(ended.bystander.failed).toBeGreaterThan(0);
  expect(ended.replies).toContain('cut off');
});
