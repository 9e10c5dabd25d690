import { hash } from 'node:crypto';
import { read } from '../define-operation.ts';
import * as f from '../fields.ts';
import { timesOf } from '../read-times.ts';
import { POSITIONS, type Position } from './holdings.ts';

const ANSWER = f.table('OpenPositions', { positions: f.vital(POSITIONS) });

/** The list, and the hash of its body: a body of the same hash need not be parsed again. */
export interface OpenPositions {
  readonly positions: readonly Position[];
  readonly bodyHash: string;
  readonly bodyBytes: number;
}

export const getOpenPositions = read({
  name: 'getOpenPositions',
  number: 12,
  proves: 'token',
  calls: { list: { method: 'GET', path: '/trading/positions', answer: ANSWER.shape } },
  run: (calls, previous: OpenPositions | null) =>
    calls.send('list', {}, (answer) => {
      const { bytes } = answer;
      // Keeping the body would take two fifths of a user's memory.
      const bodyHash = hash('sha256', bytes, 'base64');
      if (previous?.bodyHash === bodyHash) return { ...previous, ...timesOf(answer) };
      const { positions } = calls.read(answer, ANSWER);
      return { positions, bodyHash, bodyBytes: bytes.length, ...timesOf(answer) };
    }),
});
