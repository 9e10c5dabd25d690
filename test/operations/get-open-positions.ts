import { OPEN_POSITIONS } from '../../src/gateway/operations/get-open-positions.ts';
import { OPERATIONS } from '../../src/gateway/operations.ts';
import { readingIn } from '../../src/gateway/scalars.ts';
import { positionRow } from '../gateway/wire/rows.ts';
import { READ, type ReadCase } from './operation-case.ts';

export const getOpenPositions: ReadCase = {
  ...READ,
  call: (client, caller) => client.read(caller, OPERATIONS.getOpenPositions, null),
  ask: (gateway, viewer) => gateway.getOpenPositions(viewer, null),
  field: 'positions',
  document: '{ positions { id } }',
  answer: OPEN_POSITIONS.toWire({ positions: [positionRow] }),
  times: 12,
  read: (body, unit) => OPEN_POSITIONS.read(body, readingIn(unit))?.positions ?? null,
};
