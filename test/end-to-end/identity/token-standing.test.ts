import { Session } from 'node:inspector/promises';
import { expect, test } from 'vitest';
import { startTestApp } from '../../support/app.ts';

const HOME =
  '{ session { login balance } positions { id profit instrument { name } } withdrawalMethods { id } customerId }';

test('a warm screen looks its token up once, and a cold one hardly more often than the gateway answers', async () => {
  await using app = await startTestApp();
  const token = await app.signIn();
  using calls = await countCalls('src/domain/auth/proof.ts', 'lookUp');
  const lookUps = async () => {
    expect((await app.query(HOME, { token })).errors).toEqual([]);
    return calls.take();
  };
  expect(await lookUps()).toBeLessThanOrEqual(30);
  expect(await lookUps()).toBeLessThanOrEqual(3);
  expect(await lookUps()).toBe(1);
});

/** Counts the calls of a function of the service itself, as V8 does for coverage. */
async function countCalls(file: string, name: string) {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  return {
    async take(): Promise<number> {
      const { result } = await session.post('Profiler.takePreciseCoverage');
      const functions = result.flatMap((each) => (each.url.endsWith(file) ? each.functions : []));
      const counted = functions.filter(({ functionName }) => functionName === name);
      return counted.reduce((sum, { ranges }) => sum + (ranges[0]?.count ?? 0), 0);
    },
    [Symbol.dispose]: () => session.disconnect(),
  };
}
