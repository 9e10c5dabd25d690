import { expect, test } from 'vitest';
import { AnswerScan } from '../../bench/support/hostile/answer-scan.ts';

const answer = {
  errors: [{ message: 'Too much.', extensions: { code: 'QUERY_TOO_COMPLEX' } }],
  data: { positions: Array.from({ length: 2_000 }, (_, id) => ({ id, side: 'BUY' })) },
  extensions: { code: 'RATE_LIMITED' },
};
const bytes = Buffer.from(JSON.stringify(answer));
const FIELDS = 3 + 3 + 1 + 4_000 + 1;

test.each([1, 7, 1_000, bytes.length])(
  'counts an answer that comes in chunks of %i bytes',
  (size) => {
    const scan = new AnswerScan();
    for (let at = 0; at < bytes.length; at += size) scan.take(bytes.subarray(at, at + size));
    expect(scan.bytes).toBe(bytes.length);
    expect(scan.fields).toBe(FIELDS);
    expect(scan.codes).toEqual(['QUERY_TOO_COMPLEX', 'RATE_LIMITED']);
  },
);
