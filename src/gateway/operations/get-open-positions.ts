import { hash } from 'node:crypto';
import { chain } from '../../lib/maybe-promise.ts';
import { read } from '../define-operation.ts';
import * as f from '../fields.ts';
import { timesOf } from '../read-times.ts';
import { POSITIONS, type Position } from './holdings.ts';

const ANSWER = f.table('OpenPositions', { positions: f.vital(POSITIONS) });

/** The list, and the hash of the body as it came: an equal one next time need not be parsed. */
export interface OpenPositions {
  readonly positions: readonly Position[];
  readonly bodyHash: string;
  readonly bodyBytes: number;
}

export const getOpenPositions = read({
  name: 'getOpenPositions',
  number: 12,
  isReadInPieces: true,
  proves: 'token',
  calls: { list: { method: 'GET', path: '/trading/positions', answer: ANSWER.shape } },
  /** A body of the same hash has equal positions, so nothing is parsed on this hot path. */
  run: (calls, previous: OpenPositions | null) =>
    calls.send('list', {}, (answer) => {
      const { bytes } = answer;
      // The body itself would be two fifths of what a user takes of the memory.
      const bodyHash = hash('sha256', bytes, 'base64');
      if (previous?.bodyHash === bodyHash) return { ...previous, ...timesOf(answer) };
      return chain(calls.read(answer, ANSWER), ({ positions }) => ({
        positions,
        bodyHash,
        bodyBytes: bytes.length,
        ...timesOf(answer),
      }));
    }),
});
