import { write } from '../define-operation.ts';
import * as f from '../fields.ts';
import { ACKNOWLEDGED } from './acknowledged.ts';

const BODY = f.table('Notifications', { ids: f.vital(f.numbers) });

export const markNotificationsRead = write({
  name: 'markNotificationsRead',
  number: 14,
  isIdempotent: true,
  errors: 'plain',
  calls: {
    mark: {
      method: 'PUT',
      path: '/user/notifications/mark-read',
      body: BODY.shape,
      answer: ACKNOWLEDGED.shape,
    },
  },
  run: (calls, body: f.WireOf<typeof BODY.fields>) => calls.acknowledged('mark', { body }),
});
