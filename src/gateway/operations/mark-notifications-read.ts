import { write } from '../define-operation.ts';
import * as f from '../fields.ts';
import { acknowledged } from './acknowledged.ts';

const BODY = f.table('Notifications', { ids: f.vital(f.numbers) });

export const markNotificationsRead = write({
  name: 'markNotificationsRead',
  number: 14,
  isIdempotent: true,
  errors: 'plain',
  calls: { mark: acknowledged('PUT', '/user/notifications/mark-read', BODY) },
  run: (calls, body: f.WireOf<typeof BODY.fields>) => calls.acknowledged('mark', { body }),
});
