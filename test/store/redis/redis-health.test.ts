import { expect, test } from 'vitest';
import { RedisHealth, redisErrorOf } from '../../../src/store/redis/redis-health.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';

function reply(message: string): Error {
  return Object.assign(new Error(message), { name: 'ReplyError' });
}

const FULL = reply("OOM command not allowed when used memory > 'maxmemory'. script: 1a, on @user");

test.each([
  [FULL, 'OOM'],
  [reply("READONLY You can't write against a read only replica."), 'READONLY'],
  [new Error('Command timed out'), 'away'],
  [new Error('connect ECONNREFUSED 127.0.0.1:6379'), 'away'],
  ['OOM of something else', 'away'],
] as const)('the kind of the error %s is %s', (error, kind) => {
  expect(redisErrorOf(error)).toBe(kind);
});

test('each reason is logged once until five seconds have passed without a failure', async () => {
  const clock = createScriptedClock(0);
  const logged: unknown[] = [];
  // The first 13 characters distinguish the messages.
  const health = new RedisHealth(
    (message, fields) => logged.push([message.slice(0, 13), fields?.reason]),
    clock,
  );
  for (let second = 0; second < 20; second += 1) {
    health.failed(FULL);
    health.worked();
    await clock.advance(1_000);
  }
  health.failed(new Error('connect ECONNREFUSED'));
  health.failed(FULL);
  health.failed(new Error('Command timed out'));
  await clock.advance(4_999);
  health.worked();
  expect(health.reason).toBe('away');
  // The failure ends without a further command.
  await clock.advance(1);
  expect(health.reason).toBeNull();
  health.worked();
  health.failed(FULL);
  expect(logged).toEqual([
    ['Redis refuses', 'OOM'],
    ['Redis cannot ', 'away'],
    ['Redis is back', 'away'],
    ['Redis refuses', 'OOM'],
  ]);
});

test('an unreachable Redis is logged only if it is still unreachable five seconds after the start', async () => {
  const clock = createScriptedClock(0);
  const logged: string[] = [];
  const open = () => new RedisHealth((message) => logged.push(message), clock);
  const health = open();
  const timeout = new Error('Command timed out');
  health.failed(timeout);
  expect(health.reason).toBe('away');
  await clock.advance(5_001);
  health.worked();
  expect([health.reason, logged]).toEqual([null, []]);
  const other = open();
  for (let ms = 0; ms <= 5_000; ms += 500) {
    other.failed(timeout);
    await clock.advance(500);
  }
  expect(logged).toEqual(['Redis cannot be reached: Command timed out']);
});
