import { OPERATIONS } from '../../src/gateway/operations.ts';
import { write } from './operation-case.ts';

export const markNotificationsRead = write(
  OPERATIONS.markNotificationsRead,
  { ids: [1, -2] },
  {
    fields: 'ids: [1, "-2"]',
    errors: 'plain',
    statuses: [400, 400],
  },
);
