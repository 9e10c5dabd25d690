// The facade under changing documents, variables and catalog versions: prints its heap
// after each pause, and fails where that goes on growing. `npm run soak -- [--seconds 60]`
import { parseArgs } from 'node:util';
import { growthOf } from '../test/support/growth.ts';
import { soak } from '../test/support/soak.ts';

// Smaller than usual, so that they are full after a minute and the rest is telling.
const CACHE_BYTES = { documents: 16 * 1024 * 1024, answers: 16 * 1024 * 1024 };
const SAMPLES = 30;
const MIN_SECONDS_BETWEEN = 2;
const MAX_GROWTH = 0.1;

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '60' } } });
const seconds = Number(values.seconds);
console.log('seconds  requests   held MB');
const between = Math.max(MIN_SECONDS_BETWEEN, seconds / SAMPLES);
const samples = await soak({
  cacheBytes: CACHE_BYTES,
  rests: (since) => since.seconds >= between,
  ends: (sample) => sample.seconds >= seconds,
  onSample: (sample) => {
    const megabytes = (sample.bytes / 1024 / 1024).toFixed(1);
    const columns = [Math.round(sample.seconds), sample.requests, megabytes];
    console.log(columns.map((column, at) => String(column).padStart([7, 9, 9][at] ?? 0)).join(' '));
  },
});
const growth = growthOf(samples.map(({ bytes }) => bytes));
console.log(
  Number.isNaN(growth)
    ? 'Too short to compare its quarters: give it a minute.'
    : `From the third quarter to the last it grew by ${(growth * 100).toFixed(1)} %.`,
);
process.exitCode = growth > MAX_GROWTH ? 1 : 0;
