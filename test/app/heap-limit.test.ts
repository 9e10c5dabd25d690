import { expect, test } from 'vitest';
import { oldHeapBytes } from '../../src/app/heap-limit.ts';

// V8's limits were read from both majors, started with the flags.
test.each([
  ['26.10.0', '', 4192, 4096],
  ['24.21.0', '', 4288, 4096],
  ['26.10.0', '--max-old-space-size=96', 192, 96],
  ['26.10.0', '--max-old-space-size=96 --max-semi-space-size=64', 288, 96],
  ['26.10.0', '--max-old-space-size=512 --max_old_space_size=96', 192, 96],
  ['26.10.0', '--max-old-space-size-percentage=10', 2506, 2410],
  ['26.10.0', '--max-semi-space-size=64', 4288, 4096],
  ['26.10.0', '--max-semi-space-size=5', 4120, 4096],
  ['26.10.0', '--max-semi-space-size=0', 4192, 4096],
  ['26.10.0', '--max-heap-size=300 --max-semi-space-size=64', 300, 108],
  ['26.10.0', '--max-heap-size=100', 100, 50],
  ['30.0.0', '', 4288, 4096],
])(
  'of the heap of Node %s with %j, %i MB, %i are for what lives for long',
  (version, flags, limitMb, oldMb) => {
    expect(oldHeapBytes(limitMb * 1024 ** 2, flags, version) / 1024 ** 2).toBe(oldMb);
  },
);
