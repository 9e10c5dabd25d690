// A rolling restart of three processes behind haproxy, under sockets and requests. Fails where a request does, a list differs from
// the gateway's, or polls are stretched or doubled. `npm run soak -- rolling [--sockets 5000] [--accounts 1000] [--rate 200]`
import { parseArgs } from 'node:util';
import { rollingRestart } from '../test/end-to-end/scale/rolling-restart.ts';
import { haproxyPath } from '../test/support/machine.ts';

/** Each account once, and once more while some of its sockets have moved and others have not yet. */
const MAX_POLLS_PER_ACCOUNT = 1.2;

const { values } = parseArgs({
  options: {
    sockets: { type: 'string', default: '5000' },
    accounts: { type: 'string', default: '1000' },
    rate: { type: 'string', default: '200' },
  },
});
if (haproxyPath === null) throw new Error('haproxy is not here');
const accounts = Number(values.accounts);
const result = await rollingRestart({
  haproxyPath,
  accounts,
  socketsPerAccount: Math.round(Number(values.sockets) / accounts),
  pollMs: 5_000,
  requestsPerSecond: Number(values.rate),
  delayMs: 10_000,
  aroundMs: 20_000,
  onStep: (text) => process.stdout.write(`${text}\n`),
});
const { failures, polls, ...counts } = result;
for (const failure of new Set(failures)) process.stdout.write(`failed: ${failure}\n`);
process.stdout.write(`${JSON.stringify({ ...counts, failed: failures.length })}
polls an interval: ${polls.join(' ')}; for each account at most ${MAX_POLLS_PER_ACCOUNT} are expected
`);
const isFine =
  failures.length + counts.gaps === 0 &&
  counts.stretch === 1 &&
  counts.pollsPerAccount <= MAX_POLLS_PER_ACCOUNT;
process.exitCode = isFine ? 0 : 1;
