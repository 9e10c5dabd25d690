import { hash } from 'node:crypto';
import { read } from '../define-operation.ts';
import { type ReadTimes, timesOf } from '../exchange.ts';
import * as f from '../fields.ts';
import { POSITIONS, type Position } from './holdings.ts';

export const OPEN_POSITIONS = f.table('OpenPositions', { positions: f.vital(POSITIONS) });

/** The list, and the properties by which the next body is compared: an equal body need not be parsed. */
export interface OpenPositions {
  readonly rows: readonly Position[];
  /** Null if the body before it had another length. */
  readonly bodyHash: string | null;
  readonly bodyBytes: number;
}

export type PositionsAnswer = Awaited<ReturnType<typeof getOpenPositions.run>>;

export const getOpenPositions = read({
  name: 'getOpenPositions',
  number: 12,
  proves: 'token',
  calls: { list: { method: 'GET', path: '/trading/positions', answer: OPEN_POSITIONS.shape } },
  async run(calls, previous: OpenPositions | null): Promise<OpenPositions & ReadTimes> {
    const answer = await calls.send('list');
    const { bytes } = answer;
    // The hash is kept instead of the body, which would be two fifths of a user's memory. In a moving market most bodies
    // differ in length from the one before, and need no hash.
    const isSameLength = previous?.bodyBytes === bytes.length;
    const bodyHash = isSameLength ? hash('sha256', bytes, 'base64') : null;
    if (bodyHash !== null && previous?.bodyHash === bodyHash) {
      return { ...previous, ...timesOf(answer) };
    }
    const { positions: rows } = calls.read(answer, OPEN_POSITIONS);
    return { rows, bodyHash, bodyBytes: bytes.length, ...timesOf(answer) };
  },
});
