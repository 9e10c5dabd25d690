import { POSITIONS } from '../../src/gateway/operations/holdings.ts';
import { OPERATIONS } from '../../src/gateway/operations.ts';
import { readingIn } from '../../src/gateway/scalars.ts';
import { isObject } from '../../src/lib/json.ts';
import { positionRow } from '../gateway/wire/rows.ts';
import { READ, type ReadCase } from './operation-case.ts';

export const getOpenPositions: ReadCase = {
  ...READ,
  call: (client, caller) => client.read(caller, OPERATIONS.getOpenPositions, null),
  ask: (gateway, viewer) => gateway.getOpenPositions(viewer, null),
  field: 'positions',
  document: '{ positions { id } }',
  sends: 'GET /trading/positions',
  answer: { positions: [positionRow] },
  times: 12,
  read: (body, unit) => (isObject(body) ? POSITIONS.read(body.positions, readingIn(unit)) : null),
};
