import type { BuiltImage } from './build.ts';
import { startContainer } from './container.ts';
import { expect, expectEqual } from './expect.ts';

/** It does not start, and says in one line of its log which setting it misses. */
export async function tryWithoutGateway(image: BuiltImage): Promise<void> {
  await using container = await startContainer(image, {});
  const code = await container.ended;
  expect(code !== null && code > 0, 'it does not start without a gateway');
  expectEqual(container.errors, [], 'it writes nothing but its log');
  expect(container.output.length === 1, 'it says why in one line');
  const { level, problem, msg } = JSON.parse(container.output[0] ?? '');
  expectEqual(
    [level, msg, /^\w+ is unset: /.exec(problem)?.[0]],
    ['fatal', 'the configuration is wrong', 'GATEWAY_URL is unset: '],
    'it names the missing setting',
  );
}
